package login

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/registry"
)

// driver carries actions out as a connection would, and encodes what is sent in the state it is sent in.
type driver struct {
	t        *testing.T
	m        *Machine
	protocol registry.Protocol
	write    wire.State
	sent     []string
	packets  []wire.Packet
	read     wire.State
	others   []Action
}

func newDriver(t *testing.T, p registry.Protocol, change func(*Options)) *driver {
	o := Options{
		Protocol: p, Target: Target{Typed: "example.org", Host: "mc.example.org", Port: 25566}, Username: "Bot_1",
		Random: rand.Reader, ResourcePacks: Accept, CodeOfConduct: Accept, Transfers: Accept,
	}
	if change != nil {
		change(&o)
	}
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, m: m, protocol: p}
	d.do(m.Begin())
	return d
}

func (d *driver) do(actions []Action) {
	d.t.Helper()
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			if _, err := wire.EncodePacket(nil, d.protocol, d.write, wire.Serverbound, a.Packet); err != nil {
				d.t.Errorf("in %s: %v", d.write, err)
			}
			d.sent = append(d.sent, d.write.String()+" "+wire.PacketName(d.write, wire.Serverbound, a.Packet))
			d.packets = append(d.packets, a.Packet)
		case SwitchWrite:
			d.write = a.State
		case SwitchRead:
			d.read = a.State
		default:
			d.others = append(d.others, a)
		}
	}
}

// give hands packets over, as the server would have encoded them.
func (d *driver) give(packets ...wire.Packet) {
	d.t.Helper()
	for _, p := range packets {
		if err := d.try(p); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *driver) try(p wire.Packet) error {
	d.t.Helper()
	data, err := wire.EncodePacket(nil, d.protocol, d.read, wire.Clientbound, p)
	if err != nil {
		d.t.Fatalf("the script sends what the server cannot: %v", err)
	}
	decoded, err := wire.DecodePacket(d.protocol, d.read, wire.Clientbound, data)
	if err != nil {
		d.t.Fatal(err)
	}
	actions, _, err := d.m.Receive(decoded)
	d.do(actions)
	return err
}

// take returns what was sent since the last call.
func (d *driver) take() []string {
	s := d.sent
	d.sent = nil
	return s
}

func (d *driver) last() wire.Packet { return d.packets[len(d.packets)-1] }

var profile = wire.GameProfile{UUID: worldstate.UUID{1, 2, 3}, Name: "Bot_1"}

// toConfiguration logs in without anything special.
func (d *driver) toConfiguration() {
	d.t.Helper()
	d.give(&wire.LoginFinished{Profile: profile})
	d.take()
}

func (d *driver) toPlay() {
	d.t.Helper()
	d.toConfiguration()
	d.give(&wire.FinishConfiguration{}, &wire.LoginPlay{Dimensions: []string{"minecraft:overworld"}})
	d.take()
	d.others = nil
}

func eachProtocol(t *testing.T, f func(*testing.T, registry.Protocol)) {
	for _, p := range registry.Protocols() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) { f(t, p) })
	}
}

func wantSent(t *testing.T, d *driver, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.take()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestWholeLogin(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		d := newDriver(t, p, nil)
		wantSent(t, d, "handshake intention", "login hello")
		hello := d.packets[0].(*wire.Intention)
		if hello.Protocol != int32(p) || hello.Host != "mc.example.org" || hello.Port != 25566 || hello.Intent != wire.IntentLogin {
			t.Errorf("handshake %+v", hello)
		}
		if got := d.last().(*wire.HelloServerbound); got.Name != "Bot_1" || got.UUID != OfflineUUID("Bot_1") {
			t.Errorf("hello %+v", got)
		}
		d.give(&wire.LoginCompression{Threshold: 256}, &wire.CustomQuery{Transaction: 5, Channel: "a:b", Data: []byte("x")})
		if answer := d.last().(*wire.CustomQueryAnswer); answer.Transaction != 5 || answer.Understood {
			t.Errorf("plugin query answered %+v", answer)
		}
		d.give(&wire.LoginFinished{Profile: profile})
		wantSent(t, d, "login custom_query_answer", "login login_acknowledged",
			"configuration client_information", "configuration custom_payload")
		if diff := cmp.Diff([]Action{Compress{256}, LoggedIn{UUID: profile.UUID, Name: "Bot_1"}}, d.others); diff != "" {
			t.Error(diff)
		}
		d.others = nil
		d.configure(p)
		d.give(&wire.FinishConfiguration{})
		wantSent(t, d, "configuration finish_configuration")
		if diff := cmp.Diff([]Action{Entering{}}, d.others); diff != "" {
			t.Error(diff)
		}
		if d.m.Phase() != PhaseJoining || d.write != wire.Play || d.read != wire.Play {
			t.Errorf("phase %s, states %s %s", d.m.Phase(), d.write, d.read)
		}
		d.give(&wire.LoginPlay{Dimensions: []string{"minecraft:overworld"}})
		if d.m.Phase() != PhasePlay || d.m.Brand() != "Pa per" {
			t.Errorf("phase %s, brand %q", d.m.Phase(), d.m.Brand())
		}
		if len(d.take()) != 0 {
			t.Error("the play login was answered")
		}
	})
}

// configure plays everything that a server may ask in configuration.
func (d *driver) configure(p registry.Protocol) {
	t := d.t
	t.Helper()
	d.give(&wire.CustomPayload{Channel: "minecraft:brand", Data: wireString("Pa\x07 per")},
		&wire.UpdateEnabledFeatures{}, &wire.KeepAlive{ID: 9}, &wire.Ping{ID: 8}, &wire.UpdateTags{})
	if pong := d.last().(*wire.Pong); pong.ID != 8 {
		t.Errorf("pong %d", pong.ID)
	}
	wantSent(t, d, "configuration keep_alive", "configuration pong")
	if wire.Has(p, wire.KnownPacks) {
		d.give(&wire.SelectKnownPacks{Packs: []wire.KnownPack{{Namespace: "minecraft", ID: "core", Version: "1"}}})
		if packs := d.last().(*wire.SelectKnownPacks); len(packs.Packs) != 0 {
			t.Errorf("known packs answered with %v", packs.Packs)
		}
		wantSent(t, d, "configuration select_known_packs")
		d.give(&wire.RegistryData{Registry: "minecraft:made_up"}, &wire.ResetChat{})
	}
	if wire.Has(p, wire.CodeOfConductExists) {
		d.give(&wire.CodeOfConduct{Text: "be kind"})
		wantSent(t, d, "configuration accept_code_of_conduct")
	}
}

func TestResourcePacks(t *testing.T) {
	id := worldstate.UUID{0xaa, 1, 2, 0xbb}
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var wantID worldstate.UUID
		want := []wire.PackResult{wire.PackAccepted, wire.PackLoaded}
		if wire.Has(p, wire.ResourcePackUUID) {
			wantID, want = id, []wire.PackResult{wire.PackAccepted, wire.PackDownloaded, wire.PackLoaded}
		}
		for _, policy := range []Policy{Accept, Decline} {
			for _, play := range []bool{false, true} {
				d := newDriver(t, p, func(o *Options) { o.ResourcePacks = policy })
				if play {
					d.toPlay()
				} else {
					d.toConfiguration()
				}
				from := len(d.packets)
				d.give(&wire.ResourcePackPush{UUID: id, URL: "http://x", Forced: true})
				var got []wire.PackResult
				for _, s := range d.packets[from:] {
					answer := s.(*wire.ResourcePack)
					if answer.UUID != wantID {
						t.Errorf("answered id %x, want %x", answer.UUID, wantID)
					}
					got = append(got, answer.Result)
				}
				expected := want
				if policy == Decline {
					expected = []wire.PackResult{wire.PackDeclined}
				}
				if diff := cmp.Diff(expected, got); diff != "" {
					t.Errorf("%s, play %v: %s", policy, play, diff)
				}
			}
		}
	})
}

func TestCookies(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		if !wire.Has(p, wire.Cookies) {
			return
		}
		d := newDriver(t, p, func(o *Options) { o.Cookies = map[string][]byte{"a:old": []byte("1")} })
		d.give(&wire.CookieRequest{Key: "a:old"})
		if c := d.last().(*wire.CookieResponse); !c.Present || string(c.Payload) != "1" {
			t.Errorf("in login: %+v", c)
		}
		d.give(&wire.CookieRequest{Key: "a:none"})
		if c := d.last().(*wire.CookieResponse); c.Present || c.Key != "a:none" {
			t.Errorf("unknown cookie: %+v", c)
		}
		d.toConfiguration()
		d.give(&wire.StoreCookie{Key: "a:new", Payload: []byte("2")}, &wire.CookieRequest{Key: "a:new"})
		if c := d.last().(*wire.CookieResponse); string(c.Payload) != "2" {
			t.Errorf("in configuration: %+v", c)
		}
		d.give(&wire.FinishConfiguration{}, &wire.LoginPlay{}, &wire.StoreCookie{Key: "a:new", Payload: []byte("3")}, &wire.CookieRequest{Key: "a:new"})
		if c := d.last().(*wire.CookieResponse); string(c.Payload) != "3" {
			t.Errorf("in play: %+v", c)
		}
		want := map[string][]byte{"a:old": []byte("1"), "a:new": []byte("3")}
		if diff := cmp.Diff(want, d.m.Cookies()); diff != "" {
			t.Error(diff)
		}
		for i := range maxCookies - 2 {
			d.give(&wire.StoreCookie{Key: fmt.Sprint("b:", i)})
		}
		if err := d.try(&wire.StoreCookie{Key: "one:more"}); !errors.Is(err, ErrTooMuch) {
			t.Errorf("cookie %d: %v", maxCookies+1, err)
		}
	})
}

func TestTransfer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		if !wire.Has(p, wire.Cookies) {
			return
		}
		for _, play := range []bool{false, true} {
			enter := func(policy Policy) *driver {
				d := newDriver(t, p, func(o *Options) { o.Transfers = policy })
				if play {
					d.toPlay()
				} else {
					d.toConfiguration()
				}
				d.others = nil
				return d
			}
			d := enter(Accept)
			d.give(&wire.Transfer{Host: "other.example", Port: 25570})
			if diff := cmp.Diff([]Action{Transfer{"other.example", 25570}}, d.others); diff != "" {
				t.Error(diff)
			}
			if err := enter(Decline).try(&wire.Transfer{Host: "x", Port: 1}); !errors.Is(err, ErrRefusedByPolicy) {
				t.Errorf("declined: %v", err)
			}
			for _, bad := range []*wire.Transfer{{Host: "", Port: 1}, {Host: "x", Port: 0}, {Host: "x", Port: 70000}, {Host: "a b", Port: 5}} {
				if err := enter(Accept).try(bad); !errors.Is(err, ErrAddress) {
					t.Errorf("%+v: %v", bad, err)
				}
			}
		}
	})
}

func TestReconfiguration(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		d := newDriver(t, p, nil)
		d.toPlay()
		for range 2 {
			d.give(&wire.StartConfiguration{})
			wantSent(t, d, "play configuration_acknowledged", "configuration client_information", "configuration custom_payload")
			d.configure(p)
			d.give(&wire.FinishConfiguration{})
			wantSent(t, d, "configuration finish_configuration")
			d.give(&wire.LoginPlay{})
			d.give(&wire.KeepAlive{ID: 1})
			wantSent(t, d, "play keep_alive")
		}
		if diff := cmp.Diff([]Action{Entering{}, Entering{}}, d.others); diff != "" {
			t.Error(diff)
		}
	})
}

func TestEncryption(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	secret := [SecretSize]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	challenge := []byte{9, 8, 7, 6}
	check := func(t *testing.T, d *driver) {
		t.Helper()
		k := d.last().(*wire.Key)
		got, err1 := rsa.DecryptPKCS1v15(nil, key, k.Secret)
		token, err2 := rsa.DecryptPKCS1v15(nil, key, k.Challenge)
		if err1 != nil || err2 != nil || !bytes.Equal(got, secret[:]) || !bytes.Equal(token, challenge) {
			t.Errorf("key answers %x %x (%v, %v)", got, token, err1, err2)
		}
		if last := d.others[len(d.others)-1]; last != (Encrypt{Key: secret}) {
			t.Errorf("then %+v", last)
		}
	}
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		ask := &wire.HelloClientbound{ServerID: "", PublicKey: der, Challenge: challenge, Authenticate: false}
		if wire.Has(p, wire.ShouldAuthenticate) {
			d := newDriver(t, p, func(o *Options) { o.Secret = secret })
			d.give(ask)
			check(t, d)
			d.give(&wire.LoginFinished{Profile: profile})
		}
		ask.Authenticate = true
		err := newDriver(t, p, nil).try(ask)
		if !errors.Is(err, ErrNeedsAccount) || !strings.Contains(err.Error(), "online-mode=false") {
			t.Errorf("without an account: %v", err)
		}
		d := newDriver(t, p, func(o *Options) { o.Secret, o.Online = secret, true })
		d.take()
		d.give(ask)
		want := AskSession{SessionRequest{ServerHash: serverHash("", secret[:], der), Username: "Bot_1"}}
		if diff := cmp.Diff([]Action{want}, d.others); diff != "" || len(d.take()) != 0 {
			t.Errorf("asks the session server: %s", diff)
		}
		if d.m.Phase() != PhaseEncryption {
			t.Errorf("phase %s", d.m.Phase())
		}
		actions, err := d.m.SessionAnswered(nil)
		if err != nil {
			t.Fatal(err)
		}
		d.do(actions)
		check(t, d)
		if err := d.try(ask); err == nil {
			t.Error("encrypted twice")
		}
	})
	t.Run("session refuses", func(t *testing.T) {
		d := newDriver(t, registry.Latest, func(o *Options) { o.Online = true })
		d.give(&wire.HelloClientbound{PublicKey: der, Challenge: challenge, Authenticate: true})
		refused := errors.New("403")
		if _, err := d.m.SessionAnswered(refused); !errors.Is(err, refused) || !strings.Contains(err.Error(), "encryption phase") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("bad key", func(t *testing.T) {
		for _, bad := range [][]byte{nil, {1, 2}, der[:len(der)-5]} {
			d := newDriver(t, registry.Latest, func(o *Options) { o.Online = true })
			if err := d.try(&wire.HelloClientbound{PublicKey: bad, Challenge: challenge}); err == nil {
				t.Errorf("key %x accepted", bad)
			}
		}
	})
}

func TestServerHash(t *testing.T) {
	for id, want := range map[string]string{
		"Notch": "4ed1f46bbe04bc756bcb17c0c7ce3e4632f06a48",
		"jeb_":  "-7c9d5b0044c130109a5d7b5fb5c317c02b4e28c1",
		"simon": "88e16a1019277b15d58faf0541e11910eb756f6",
	} {
		if got := serverHash(id, nil, nil); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestOfflineUUID(t *testing.T) {
	if got := fmt.Sprintf("%x", OfflineUUID("Notch")); got != "b50ad385829d3141a2167e7d7539ba7f" {
		t.Errorf("got %s", got)
	}
}

func TestKicks(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		kick := func(enter func(*driver), packet wire.Packet, phase, plain string) {
			t.Helper()
			d := newDriver(t, p, nil)
			enter(d)
			err := d.try(packet)
			var kicked *Kicked
			if !errors.Is(err, ErrKicked) || !errors.As(err, &kicked) || kicked.Plain != plain {
				t.Errorf("%s: %v", phase, err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), phase+" phase (last packet ") {
				t.Errorf("%s: error does not say phase and packet: %v", phase, err)
			}
		}
		kick(func(*driver) {}, &wire.LoginDisconnect{Reason: wire.Literal("multiplayer.disconnect.not_whitelisted")}, "login",
			"the server has a whitelist and this account is not on it")
		kick((*driver).toConfiguration, &wire.Disconnect{Reason: wire.Literal("Server closed")}, "configuration", "the server is shutting down")
		kick((*driver).toPlay, &wire.Disconnect{Reason: wire.Literal("odd \x1b[31mtext")}, "play", "")
	})
}

func TestPolicies(t *testing.T) {
	d := newDriver(t, registry.Latest, func(o *Options) { o.CodeOfConduct = Decline })
	d.toConfiguration()
	if err := d.try(&wire.CodeOfConduct{Text: "x"}); !errors.Is(err, ErrRefusedByPolicy) {
		t.Errorf("code of conduct declined: %v", err)
	}
	d = newDriver(t, registry.Latest, func(o *Options) {
		o.Query = func(channel string, data []byte) ([]byte, bool) {
			return append([]byte(channel), data...), channel == "gate:hello"
		}
	})
	d.give(&wire.CustomQuery{Transaction: 1, Channel: "gate:hello", Data: []byte("!")})
	if a := d.last().(*wire.CustomQueryAnswer); !a.Understood || string(a.Data) != "gate:hello!" {
		t.Errorf("claimed channel answered %+v", a)
	}
	d.give(&wire.CustomQuery{Transaction: 2, Channel: "other:x"})
	if a := d.last().(*wire.CustomQueryAnswer); a.Understood {
		t.Errorf("other channel answered %+v", a)
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, name := range []string{"", "has space", "waytoolongforausername", "x/y", "ünï"} {
		if _, err := New(Options{Protocol: registry.Latest, Username: name}); !errors.Is(err, ErrUsername) {
			t.Errorf("username %q: %v", name, err)
		}
	}
	for _, p := range []registry.Protocol{0, 763, 776, 777, -1} {
		_, err := New(Options{Protocol: p, Username: "x"})
		if !errors.Is(err, ErrUnknownProtocol) || !strings.Contains(err.Error(), "1.20.2") || !strings.Contains(err.Error(), "26.1") {
			t.Errorf("protocol %d: %v", p, err)
		}
	}
}

func TestUndecodable(t *testing.T) {
	bad := func(name string) *wire.DecodeError { return &wire.DecodeError{Packet: name, Err: wire.ErrShort} }
	for _, tt := range []struct {
		enter func(*driver)
		name  string
		fatal bool
	}{
		{func(*driver) {}, "login_finished", true},
		{func(*driver) {}, "custom_query", true},
		{(*driver).toConfiguration, "registry_data", true},
		{(*driver).toConfiguration, "finish_configuration", true},
		{(*driver).toConfiguration, "server_links", false},
		{(*driver).toPlay, "player_position", true},
		{(*driver).toPlay, "block_update", true},
		{(*driver).toPlay, "award_stats", true},
		{(*driver).toPlay, "level_chunk_with_light", false},
		{(*driver).toPlay, "set_entity_data", false},
		{(*driver).toPlay, "player_chat", false},
	} {
		d := newDriver(t, registry.Latest, nil)
		tt.enter(d)
		err := d.m.Undecodable(bad(tt.name))
		if d.m.Undecodable(&wire.DecodeError{Packet: "compressed frame", ID: -1, Err: wire.ErrShort}) == nil {
			t.Errorf("a packet that cannot even be named was skipped in %s", d.m.Phase())
		}
		if (err != nil) != tt.fatal {
			t.Errorf("%s in %s: %v", tt.name, d.m.Phase(), err)
		}
		if err != nil && (!errors.Is(err, ErrUndecodable) || !strings.Contains(err.Error(), tt.name) || !strings.Contains(err.Error(), d.m.Phase().String())) {
			t.Errorf("%s: the error does not name phase and packet: %v", tt.name, err)
		}
	}
}

// TestOrderNames checks that the names in the tables are names of packets.
func TestOrderNames(t *testing.T) {
	for state, table := range map[wire.State]map[string]bool{wire.Configuration: configurationOrder, wire.Play: playOrder} {
		known := map[string]bool{}
		for _, p := range registry.Protocols() {
			for _, id := range wire.IDs(p, state, wire.Clientbound) {
				known[wire.NameOf(p, state, wire.Clientbound, id)] = true
			}
		}
		for name := range table {
			if !known[name] {
				t.Errorf("no packet of %s is called %s", state, name)
			}
		}
	}
}

// TestStrayPackets gives every packet of every state in every phase: nothing panics, and what is not ours is left alone.
func TestStrayPackets(t *testing.T) {
	for _, p := range registry.Protocols() {
		for _, enter := range []func(*driver){func(*driver) {}, (*driver).toConfiguration, (*driver).toPlay} {
			for state := wire.Status; state <= wire.Play; state++ {
				for _, id := range wire.IDs(p, state, wire.Clientbound) {
					d := newDriver(t, p, nil)
					enter(d)
					packet, _ := wire.Lookup(p, state, wire.Clientbound, id)
					_, _, err := d.m.Receive(packet)
					var s *SessionError
					if err != nil && !errors.As(err, &s) {
						t.Errorf("%T: %v names no phase", packet, err)
					}
				}
			}
		}
	}
}

// FuzzMachine gives a machine packets made of any bytes, in each phase.
func FuzzMachine(f *testing.F) {
	for _, p := range []wire.Packet{&wire.HelloClientbound{}, &wire.LoginFinished{}, &wire.CookieRequest{Key: "a:b"}} {
		if data, err := wire.EncodePacket(nil, registry.Latest, wire.Login, wire.Clientbound, p); err == nil {
			f.Add(uint8(0), data)
		}
	}
	for _, p := range []wire.Packet{&wire.SelectKnownPacks{}, &wire.Transfer{Host: "x", Port: 1}, &wire.ResourcePackPush{}, &wire.CustomPayload{Channel: brandChannel, Data: []byte{0xff}}} {
		if data, err := wire.EncodePacket(nil, registry.Latest, wire.Configuration, wire.Clientbound, p); err == nil {
			f.Add(uint8(1), data)
			f.Add(uint8(2), data)
		}
	}
	f.Fuzz(func(t *testing.T, phase uint8, data []byte) {
		d := newDriver(t, registry.Latest, nil)
		switch phase % 3 {
		case 1:
			d.toConfiguration()
		case 2:
			d.toPlay()
		}
		p, err := wire.DecodePacket(registry.Latest, d.read, wire.Clientbound, data)
		if err != nil {
			return
		}
		actions, _, _ := d.m.Receive(p)
		d.do(actions)
	})
}
