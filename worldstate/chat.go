package worldstate

// chatLines is how many lines of chat a mirror keeps.
const chatLines = 256

// ChatLine is a line of chat. Text and Name are untrusted.
type ChatLine struct {
	Cursor uint64 // 1 for the first line of the connection, then rising by one
	Seen   Sequence
	ChatReceived
}

// ChatPage is what came after a cursor. Asked again with Next, it goes on without gap or repeat.
type ChatPage struct {
	Lines []ChatLine
	Next  uint64
	Lost  uint64 // lines after the cursor that are no longer kept
}

// chatRing keeps the last lines. Whispers and texts above the hotbar are not chat and are left out.
type chatRing struct {
	lines []ChatLine // the line with cursor c stands at (c-1)%chatLines
	last  uint64     // cursor of the newest line
}

func (r *chatRing) add(ev ChatReceived, seq Sequence) {
	if ev.Private || ev.Overlay {
		return
	}
	r.last++
	ev.Signature = append([]byte(nil), ev.Signature...)
	line := ChatLine{Cursor: r.last, Seen: seq, ChatReceived: ev}
	if len(r.lines) < chatLines {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[(r.last-1)%chatLines] = line
}

// since returns the kept lines after a cursor. A cursor from the future counts as the newest.
func (r *chatRing) since(cursor uint64) ChatPage {
	page := ChatPage{Next: r.last}
	if cursor >= r.last {
		return page
	}
	first := cursor + 1
	if oldest := r.last - uint64(len(r.lines)) + 1; first < oldest {
		page.Lost = oldest - first
		first = oldest
	}
	for c := first; c <= r.last; c++ {
		page.Lines = append(page.Lines, r.lines[(c-1)%chatLines])
	}
	return page
}
