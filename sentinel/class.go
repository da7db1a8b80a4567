package sentinel

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"blockworld/effects"
)

// Class is a set of the things an action may touch. The zero Class is unknown and denies. Only Ordinary admits;
// every other bit has a refusing rule of its own.
type Class uint32

// The classes.
const (
	ClassOrdinary    Class = 1 << iota // building blocks, plain chat, walking
	ClassUnlisted                      // some part is on no list
	ClassDestructive                   // takes something away or changes a block that stands
	ClassFire
	ClassLava
	ClassWater
	ClassExplosives // explodes, or summons what does
	ClassPvP        // weapons and everything thrown or shot
	ClassTrading
	ClassPrivateChat
	ClassCommands
	ClassContainers  // a click that opens a container
	ClassAccount     // account, plug-ins, console, restoration, exposure
	ClassEntities    // makes an entity
	ClassInteraction // a click that the clicked block takes for itself
	ClassBed         // explodes outside the overworld
	ClassAnchor      // explodes outside the nether
)

// zz_classes.txt: "items CLASS name...", "blocks CLASS name..." and "clicks CLASS name..." lines, written by gen_classes.go from minecraft-data.
//
//go:embed zz_classes.txt
var classText string

type classTables struct{ items, blocks, clicks map[string]Class }

var classWords = map[string]Class{
	"ordinary": ClassOrdinary, "destructive": ClassDestructive, "fire": ClassFire, "lava": ClassLava,
	"water": ClassWater, "explosives": ClassExplosives, "pvp": ClassPvP, "commands": ClassCommands,
	"containers": ClassContainers, "entities": ClassEntities, "interaction": ClassInteraction,
	"bed": ClassOrdinary | ClassBed, "anchor": ClassOrdinary | ClassAnchor,
}

// tables is decoded once; a line it cannot read leaves its names unlisted, which denies them.
var tables = sync.OnceValue(func() classTables {
	t := classTables{map[string]Class{}, map[string]Class{}, map[string]Class{}}
	for line := range strings.Lines(classText) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		into := map[string]map[string]Class{"items": t.items, "blocks": t.blocks, "clicks": t.clicks}[words[0]]
		if class, ok := classWords[words[1]]; ok && into != nil {
			for _, name := range words[2:] {
				into[name] |= class
			}
		}
	}
	return t
})

func lookup(m map[string]Class, name string) Class {
	short, ok := strings.CutPrefix(name, "minecraft:")
	if !ok && strings.Contains(name, ":") {
		return ClassUnlisted // somebody's own content
	}
	if c, ok := m[short]; ok {
		return c
	}
	return ClassUnlisted
}

// ItemClass returns what an item in the hand may do. Names on no list are ClassUnlisted.
func ItemClass(name string) Class { return lookup(tables().items, name) }

// BlockClass returns what it means to make this block. Names on no list are ClassUnlisted.
func BlockClass(name string) Class { return lookup(tables().blocks, name) }

// ClickClass returns what a click with a full hand on this block does. Sneaking keeps a block from answering.
func ClickClass(name string, sneaking bool) Class {
	if BlockClass(name) == ClassUnlisted {
		return ClassUnlisted
	}
	if c, ok := tables().clicks[strings.TrimPrefix(name, "minecraft:")]; ok && !sneaking {
		return c
	}
	return ClassOrdinary
}

// Classify joins the classes of one placement: the item, every block it makes, and the click.
// Whether the clicked cell can be clicked at all is another fact (Facts.ClickedUsable).
func Classify(item string, makes []string, clicked string, sneaking bool) Class {
	c := ItemClass(item) | ClickClass(clicked, sneaking)
	for _, name := range makes {
		c |= BlockClass(name)
	}
	return c
}

// TextClass returns what a chat line may do: everything that starts with a slash is a command, and those that whisper
// are private chat besides.
func TextClass(text string) Class {
	t := strings.TrimLeft(text, " \t")
	if !strings.HasPrefix(t, "/") {
		return ClassOrdinary
	}
	c := ClassCommands
	word, _, _ := strings.Cut(strings.TrimLeft(t, "/ "), " ")
	if _, after, ok := strings.Cut(word, ":"); ok {
		word = after
	}
	switch strings.ToLower(word) {
	case "msg", "tell", "w", "teammsg", "tm", "whisper", "m", "t", "pm", "r", "reply", "dm", "mail", "message":
		c |= ClassPrivateChat
	case "op", "deop", "ban", "ban-ip", "pardon", "pardon-ip", "whitelist", "kick", "stop", "reload", "restart",
		"save-all", "save-off", "save-on", "plugman", "lp", "luckperms", "publish", "transfer", "login", "register", "changepassword":
		c |= ClassAccount
	case "trade", "pay", "shop", "ah", "auction", "sell", "buy":
		c |= ClassTrading
	}
	return c
}

// TextFacts returns the length of a chat line as the server counts it, capped, and whether every character is one it
// takes: no control characters, no section sign, valid UTF-8, not blank.
func TextFacts(text string) (length uint16, legal Tri) {
	n, ok := 0, utf8.ValidString(text) && strings.TrimSpace(text) != ""
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
		ok = ok && effects.Sayable(r)
	}
	return uint16(min(n, 1<<16-1)), Known(ok)
}
