package wire

// ChatType says how a line of chat is decorated: an index into the chat_type registry, or the type itself.
type ChatType struct {
	Index  int32 // -1 when Inline is set
	Inline *InlineChatType
}

// InlineChatType is a chat type written out in the packet.
type InlineChatType struct{ Chat, Narration ChatDecoration }

// ChatDecoration is a translation and what to fill in.
type ChatDecoration struct {
	TranslationKey string
	Parameters     []int32 // 0 content, 1 sender, 2 target
	Style          NBT
}

// chatType is an index, or with feature ChatTypeHolder index+1 and 0 for a type written out.
func (io *IO) chatType(t *ChatType) {
	if !io.Has(ChatTypeHolder) {
		io.VarInt(&t.Index)
		return
	}
	id := t.Index + 1
	if t.Inline != nil {
		id = 0
	}
	io.VarInt(&id)
	if !io.ok() {
		return
	}
	if id != 0 {
		t.Index = id - 1
		return
	}
	if io.reading {
		*t = ChatType{Index: -1, Inline: new(InlineChatType)}
	}
	if t.Inline == nil {
		t.Inline = new(InlineChatType)
	}
	io.chatDecoration(&t.Inline.Chat)
	io.chatDecoration(&t.Inline.Narration)
}

func (io *IO) chatDecoration(d *ChatDecoration) {
	io.String(&d.TranslationKey, maxString)
	List(io, &d.Parameters, 1, (*IO).VarInt)
	io.NBT(&d.Style)
}
