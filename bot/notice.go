package bot

import (
	"fmt"

	"blockworld/worldstate/geom"
)

// NoticeKind says what a Notice is about.
type NoticeKind uint8

// The kinds of notices.
const (
	NoticeJoined NoticeKind = iota + 1
	NoticeDied
	NoticeRespawned
	NoticeDimension     // another dimension or world: a new epoch
	NoticeReconfiguring // the server took us back to configuration
	NoticeCorrected     // the server put us somewhere
	NoticeWindowClosed  // a window that the server opened was closed
	NoticeSkipped       // a packet could not be decoded and was skipped
)

// String names the kind in a word or two.
func (k NoticeKind) String() string {
	names := [...]string{"none", "joined", "died", "respawned", "dimension", "reconfiguring", "corrected", "window closed", "skipped"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("notice(%d)", k)
}

// Notice is something that people want to be told about a session. Text is ours, in plain words.
type Notice struct {
	Kind     NoticeKind
	Text     string
	Position geom.Vec3 // where we are, as far as we know
}
