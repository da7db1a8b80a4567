package egress

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blockworld/bot/internal/permits"
	"blockworld/bot/wire"
	"blockworld/worldstate/registry"
)

// live is every serverbound packet that Live takes with zero contents, by state.
var live = map[wire.State][]string{
	wire.Handshake: {"intention"},
	wire.Login:     {"cookie_response", "custom_query_answer", "hello", "key", "login_acknowledged"},
	wire.Configuration: {
		"accept_code_of_conduct", "client_information", "cookie_response", "finish_configuration", "keep_alive", "pong",
		"resource_pack", "select_known_packs",
	},
	wire.Play: {
		"chunk_batch_received", "client_command", "client_information", "configuration_acknowledged", "cookie_response",
		"keep_alive", "player_loaded", "pong", "resource_pack",
	},
}

func TestLivenessIsClosed(t *testing.T) {
	for state := wire.Handshake; state <= wire.Play; state++ {
		t.Run(state.String(), func(t *testing.T) {
			taken := map[string]bool{}
			for _, p := range registry.Protocols() {
				for _, id := range wire.IDs(p, state, wire.Serverbound) {
					packet, _ := wire.Lookup(p, state, wire.Serverbound, id)
					w, _ := newWriter(t, p)
					err := w.Live(packet)
					if err != nil && !errors.Is(err, ErrNotLiveness) {
						t.Errorf("%T: %v", packet, err)
					}
					if err == nil {
						taken[wire.NameOf(p, state, wire.Serverbound, id)] = true
					}
				}
			}
			var got []string
			for name := range taken {
				got = append(got, name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(live[state], got); diff != "" {
				t.Errorf("liveness of %s (-want +got):\n%s", state, diff)
			}
		})
	}
}

// writes is every packet type that this package can write at all, from its source.
var writes = []string{
	// effects
	"Chat", "ContainerClick", "MovePlayerPos", "MovePlayerPosRot", "MovePlayerRot", "MovePlayerStatusOnly",
	"PickItemFromBlock", "PlayerAbilitiesServerbound", "PlayerCommand", "PlayerInput", "SetCarriedItem",
	"SetCreativeModeSlot", "Swing", "UseItemOn",
	// liveness
	"AcceptCodeOfConduct", "AcceptTeleportation", "ChatAck", "ChunkBatchReceived", "ClientCommand", "ClientInformation",
	"ClientTickEnd", "ConfigurationAcknowledged", "ContainerClose", "CookieResponse", "CustomPayload",
	"CustomQueryAnswer", "FinishConfiguration", "HelloServerbound", "Intention", "KeepAlive", "Key",
	"LoginAcknowledged", "PlayerLoaded", "Pong", "ResourcePack", "SelectKnownPacks",
}

func TestNoOtherPacketHasACase(t *testing.T) {
	want := slices.Clone(writes)
	slices.Sort(want)
	got := packetTypes(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packets that egress can write (-want +got):\n%s", diff)
	}
	forbid := func(names ...string) func(*testing.T) {
		return func(t *testing.T) {
			for _, n := range names {
				if slices.Contains(got, n) {
					t.Errorf("egress names %s", n)
				}
			}
		}
	}
	t.Run("SE-49/attack and interact are never encoded", forbid("Attack", "Interact", "UseItem", "PlayerAction", "PickItemFromEntity"))
	t.Run("SE-50/commands are never encoded", forbid("ChatCommand", "ChatCommandSigned", "CommandSuggestionRequest", "CommandSuggestion"))
	t.Run("SE-49/refused as liveness", refused("attack", "interact", "player_action", "use_item"))
	t.Run("SE-50/refused as liveness", refused("chat_command", "chat_command_signed", "chat"))
	t.Run("SE-50/a command is no chat line", func(t *testing.T) {
		for _, text := range []string{"/msg a b", "/tell a b", "/w a b", "/teammsg x", " /msg a b", "//"} {
			w, r := placed(t, registry.Latest)
			p := permits.New(t).Take()
			if err := w.OpenSay(p, text, 0, 0); !errors.Is(err, ErrText) {
				t.Errorf("%q: %v", text, err)
			}
			if !unopened(p) || len(r.packets) != 0 {
				t.Errorf("%q: the permit is spent, or %d packets went out", text, len(r.packets))
			}
		}
	})
}

// refused offers every play packet of these names to Live, in every version.
func refused(names ...string) func(*testing.T) {
	return func(t *testing.T) {
		offered := map[string]bool{}
		for _, p := range registry.Protocols() {
			for _, id := range wire.IDs(p, wire.Play, wire.Serverbound) {
				name := wire.NameOf(p, wire.Play, wire.Serverbound, id)
				if !slices.Contains(names, name) {
					continue
				}
				offered[name] = true
				packet, _ := wire.Lookup(p, wire.Play, wire.Serverbound, id)
				w, r := newWriter(t, p)
				if err := w.Live(packet); !errors.Is(err, ErrNotLiveness) || len(r.packets) != 0 {
					t.Errorf("%s in %s: %v, %d packets", name, p, err, len(r.packets))
				}
			}
		}
		for _, name := range names {
			if !offered[name] {
				t.Errorf("no version has %s: the test looks at nothing", name)
			}
		}
	}
}

// packetTypes lists the wire types that this package's source builds or takes as cases.
func packetTypes(t *testing.T) []string {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	note := func(e ast.Expr) {
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "wire" {
			found[sel.Sel.Name] = true
		}
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				note(n.Type)
			case *ast.CaseClause:
				for _, e := range n.List {
					note(e)
				}
			}
			return true
		})
	}
	var out []string
	for name := range found {
		if !slices.Contains([]string{"ItemStack", "LastSeen"}, name) { // parts of packets
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func TestLivenessContents(t *testing.T) {
	for _, tt := range []struct {
		name   string
		packet wire.Packet
		ok     bool
	}{
		{"brand", &wire.CustomPayload{Channel: "minecraft:brand"}, true},
		{"other channel", &wire.CustomPayload{Channel: "minecraft:register"}, false},
		{"request stats", &wire.ClientCommand{Action: wire.RequestStats}, true},
		{"respawn allowed", &wire.ClientCommand{Action: wire.PerformRespawn}, true},
		{"game rules", &wire.ClientCommand{Action: wire.RequestGameRules}, false},
		{"click", &wire.ContainerClick{Slot: 36, Mode: 4}, false},
		{"close", &wire.ContainerClose{Window: 1}, false},
		{"move", &wire.MovePlayerPos{}, false},
		{"use", &wire.UseItemOn{}, false},
		{"swing", &wire.Swing{}, false},
		{"creative slot", &wire.SetCreativeModeSlot{}, false},
		{"carried item", &wire.SetCarriedItem{}, false},
		{"nil", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, r := newWriter(t, registry.Latest)
			err := w.Live(tt.packet)
			if (err == nil) != tt.ok || (len(r.packets) == 1) != tt.ok {
				t.Errorf("Live = %v, %d packets", err, len(r.packets))
			}
		})
	}
	t.Run("respawn only where allowed", func(t *testing.T) {
		w := New(&recorder{t: t}, registry.Latest, false)
		if err := w.Respawn(); !errors.Is(err, ErrNotLiveness) {
			t.Errorf("Respawn = %v", err)
		}
	})
}

func TestWindows(t *testing.T) {
	for _, p := range registry.Protocols() {
		t.Run(fmt.Sprint(int32(p)), func(t *testing.T) {
			w, r := placed(t, p)
			if err := w.CloseWindow(3); !errors.Is(err, ErrNotServerOpen) {
				t.Errorf("closing an unopened window: %v", err)
			}
			w.WindowOpened(3)
			if err := w.CloseWindow(3); err != nil {
				t.Error(err)
			}
			if err := w.CloseWindow(3); !errors.Is(err, ErrNotServerOpen) {
				t.Errorf("closing twice: %v", err)
			}
			if err := w.QueryInventory(5); err != nil {
				t.Error(err)
			}
			click := r.packets[1].(*wire.ContainerClick)
			if click.Slot != -1 || click.Window != 0 || click.Mode != 0 || click.StateID == 5 || len(click.Changed) != 0 {
				t.Errorf("query clicks: %+v", click)
			}
			if diff := cmp.Diff([]string{"container_close", "container_click"}, r.names()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChatAcknowledgement(t *testing.T) {
	w, r := placed(t, registry.Latest)
	for range ackAfter {
		if err := w.ChatReceived(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.packets) != 0 {
		t.Fatalf("acknowledged after %d lines", ackAfter)
	}
	w.ChatReceived()
	if ack, ok := r.packets[0].(*wire.ChatAck); !ok || ack.Count != ackAfter+1 {
		t.Errorf("got %+v", r.packets[0])
	}
	r.names()
	w.ChatReceived()
	if err := w.OpenSay(permits.New(t).Take(), "hello", 1, 2); err != nil {
		t.Fatal(err)
	}
	if chat := r.packets[0].(*wire.Chat); chat.LastSeen.Offset != 1 || chat.Salt != 2 || chat.Signed {
		t.Errorf("chat = %+v", chat)
	}
}
