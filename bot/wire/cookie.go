package wire

// CookieRequest asks for a cookie that an earlier server stored.
type CookieRequest struct{ Key string }

// Marshal reads or writes the packet.
func (p *CookieRequest) Marshal(io *IO) { io.String(&p.Key, maxKey) }

// CookieResponse answers CookieRequest. A secret: never in logs or captures.
type CookieResponse struct {
	Key     string
	Present bool
	Payload []byte
}

// Marshal reads or writes the packet.
func (p *CookieResponse) Marshal(io *IO) {
	io.String(&p.Key, maxKey)
	if io.Flag(&p.Present) {
		io.Bytes(&p.Payload, maxCookie)
	}
}

// StoreCookie asks the client to keep a cookie for the next server. A secret: never in logs or captures.
type StoreCookie struct {
	Key     string
	Payload []byte
}

// Marshal reads or writes the packet.
func (p *StoreCookie) Marshal(io *IO) {
	io.String(&p.Key, maxKey)
	io.Bytes(&p.Payload, maxCookie)
}
