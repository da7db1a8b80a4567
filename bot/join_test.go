package bot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"blockworld/bot/internal/permits"
	"blockworld/bot/login"
	"blockworld/bot/wire"
	"blockworld/worldstate"
	"blockworld/worldstate/geom"
	"blockworld/worldstate/registry"
)

func TestJoin(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		loaded := false
		b, stop := joined(t, serve(t, p, func(s *peer) {
			s.join()
			s.floor()
			s.place(1, geom.Vec3{0.5, 16, 0.5})
			if wire.Has(p, wire.PlayerLoadedExists) {
				until[*wire.PlayerLoaded](s)
				loaded = true
			}
			s.send(&wire.KeepAlive{ID: 5})
			until[*wire.KeepAlive](s)
			s.drain()
		}))
		wait(2 * time.Second)
		got := snap(t, b)
		if !got.Ready || !got.OnGround || got.Name != "Tester" || got.Account != (worldstate.UUID{9, 9}) || got.Identity.HashedSeed != 77 {
			t.Errorf("snapshot %+v", got)
		}
		if got.Self.GameMode != worldstate.Creative || got.Self.EntityID != 42 || !got.Self.Identified {
			t.Errorf("self %+v", got.Self)
		}
		if loaded != wire.Has(p, wire.PlayerLoadedExists) {
			t.Errorf("player_loaded sent: %v", loaded)
		}
		if got.Sent.Effects() != 0 {
			t.Errorf("sent %v without an admission", got.Sent)
		}
		if err := stop(); !errors.Is(err, ErrClosed) {
			t.Errorf("Run = %v", err)
		}
	})
}

// phases lead a server to each phase.
var phases = []struct {
	name  string
	enter func(*peer)
}{
	{"login", (*peer).begin},
	{"configuration", (*peer).login},
	{"joining", func(s *peer) { s.login(); s.configure() }},
	{"play", (*peer).join},
}

// session joins and runs until the end, whichever of the two meets it.
func session(ctx context.Context, opts Options) error {
	b, err := Join(ctx, opts)
	if err != nil {
		return err
	}
	defer b.Close()
	return b.Run(ctx)
}

func TestServerHangs(t *testing.T) {
	for _, p := range []registry.Protocol{registry.First, registry.Latest} {
		for _, ph := range phases {
			t.Run(p.String()+" "+ph.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					began := time.Now()
					err := session(t.Context(), serve(t, p, func(s *peer) { ph.enter(s); s.drain() }))
					if !errors.Is(err, login.ErrTimeout) || !strings.Contains(err.Error(), ph.name+" phase") {
						t.Errorf("after %v: %v", time.Since(began), err)
					}
					if took := time.Since(began); took > 2*time.Minute {
						t.Errorf("took %v", took)
					}
				})
			})
		}
	}
	t.Run("drips keep-alives in configuration", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			err := session(t.Context(), serve(t, registry.Latest, func(s *peer) {
				s.login()
				for i := int64(0); ; i++ {
					s.send(&wire.KeepAlive{ID: i})
					expect[*wire.KeepAlive](s)
					time.Sleep(5 * time.Second)
				}
			}))
			if !errors.Is(err, login.ErrTimeout) || !strings.Contains(err.Error(), "last packet keep_alive") {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("reads nothing", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			err := session(t.Context(), serve(t, registry.Latest, func(s *peer) { time.Sleep(time.Hour) }))
			wait(2 * time.Hour)
			if !errors.Is(err, login.ErrTimeout) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("never connects", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			opts := serve(t, registry.Latest)
			opts.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
			if err := session(t.Context(), opts); !errors.Is(err, login.ErrTimeout) || !strings.Contains(err.Error(), "connect phase") {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestServerCloses(t *testing.T) {
	for _, ph := range phases {
		t.Run(ph.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				err := session(t.Context(), serve(t, registry.Latest, func(s *peer) { ph.enter(s) }))
				if !errors.Is(err, ErrConnection) || !strings.Contains(err.Error(), ph.name+" phase") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	t.Run("at once", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			if err := session(t.Context(), serve(t, registry.Latest, func(*peer) {})); !errors.Is(err, ErrConnection) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestServerSendsGarbage(t *testing.T) {
	garbage := map[string]func(*peer){
		"http":           func(s *peer) { s.raw.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); s.drain() },
		"endless length": func(s *peer) { s.raw.Write([]byte{0xff, 0xff, 0xff, 0xff, 0xff}); s.drain() },
		"big frame":      func(s *peer) { s.raw.Write([]byte{0xff, 0xff, 0x7f}); s.drain() },
		"noise": func(s *peer) {
			noise := make([]byte, 64<<10)
			fixedRand().Read(noise)
			s.raw.Write(noise)
			s.drain()
		},
	}
	for _, ph := range phases {
		for name, send := range garbage {
			t.Run(ph.name+" "+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					err := session(t.Context(), serve(t, registry.Latest, func(s *peer) { ph.enter(s); send(s) }))
					var where *login.SessionError
					if !errors.As(err, &where) || where.Phase.String() != ph.name {
						t.Errorf("got %v", err)
					}
				})
			})
		}
	}
	t.Run("not Minecraft", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			err := session(t.Context(), serve(t, registry.Latest, func(s *peer) {
				s.begin()
				s.raw.Write([]byte{0xff, 0xff, 0xff, 0xff})
				s.drain()
			}))
			if !errors.Is(err, login.ErrNotMinecraft) {
				t.Errorf("got %v", err)
			}
		})
	})
}

// TestUndecodable sends one packet of each kind that is cut short.
func TestUndecodable(t *testing.T) {
	cut := func(s *peer, p wire.Packet) {
		data, err := wire.EncodePacket(nil, s.protocol, s.c.WriteState(), wire.Clientbound, p)
		if err != nil {
			s.t.Error(err)
		}
		s.c.WriteFrame(data[:len(data)-1])
		s.c.Flush()
	}
	for _, tt := range []struct {
		name  string
		fatal bool
		enter func(*peer)
		p     wire.Packet
	}{
		{"login_finished", true, (*peer).begin, &wire.LoginFinished{}},
		{"registry_data", true, (*peer).login, &wire.RegistryData{}},
		{"player_position", true, (*peer).join, &wire.PlayerPosition{}},
		{"block_update", true, (*peer).join, &wire.BlockUpdate{}},
		{"level_chunk_with_light", false, (*peer).join, &wire.LevelChunkWithLight{}},
		{"set_experience", false, (*peer).join, &wire.SetExperience{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				err := session(t.Context(), serve(t, registry.Latest, func(s *peer) {
					tt.enter(s)
					cut(s, tt.p)
					if !tt.fatal {
						s.send(&wire.Disconnect{Reason: wire.Literal("bye")})
					}
					s.drain()
				}))
				if errors.Is(err, login.ErrUndecodable) != tt.fatal || !tt.fatal && !errors.Is(err, login.ErrKicked) {
					t.Errorf("got %v", err)
				}
				if tt.fatal && !strings.Contains(err.Error(), tt.name) {
					t.Errorf("the error does not name the packet: %v", err)
				}
			})
		})
	}
}

func TestKicked(t *testing.T) {
	for _, ph := range phases {
		t.Run(ph.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				err := session(t.Context(), serve(t, registry.Latest, func(s *peer) {
					ph.enter(s)
					if ph.name == "login" {
						s.send(&wire.LoginDisconnect{Reason: wire.Literal("server is full")})
					} else {
						s.send(&wire.Disconnect{Reason: wire.Literal("server is full")})
					}
					s.drain()
				}))
				var k *login.Kicked
				if !errors.As(err, &k) || k.Plain != "the server is full" || !strings.Contains(err.Error(), ph.name+" phase") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestTransferBeforePlay(t *testing.T) {
	arrived := false
	first := func(s *peer) {
		s.login()
		s.send(&wire.StoreCookie{Key: "a:b", Payload: []byte("1")}, &wire.Transfer{Host: "second.example", Port: 7})
		s.drain()
	}
	second := func(s *peer) {
		s.begin()
		s.send(&wire.CookieRequest{Key: "a:b"})
		if c := expect[*wire.CookieResponse](s); string(c.Payload) != "1" {
			t.Errorf("cookie %+v", c)
		}
		arrived = s.hello.Intent == wire.IntentTransfer && s.hello.Host == "second.example" && s.hello.Port == 7
		s.send(&wire.LoginDisconnect{Reason: wire.Literal("done")})
		s.drain()
	}
	t.Run("accepted", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			opts := serve(t, registry.Latest, first, second)
			opts.Transfers = login.Accept
			if err := session(t.Context(), opts); !errors.Is(err, login.ErrKicked) || !arrived {
				t.Errorf("arrived %v, %v", arrived, err)
			}
		})
	})
	t.Run("declined", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			if err := session(t.Context(), serve(t, registry.Latest, first)); !errors.Is(err, login.ErrRefusedByPolicy) {
				t.Errorf("got %v", err)
			}
		})
	})
	t.Run("for ever", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			opts := serve(t, registry.Latest, first, first, first, first, first, first)
			opts.Transfers = login.Accept
			if err := session(t.Context(), opts); !errors.Is(err, ErrTransfers) {
				t.Errorf("got %v", err)
			}
		})
	})
}

func TestTransferInPlay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		opts := serve(t, registry.Latest, func(s *peer) {
			s.join()
			s.send(&wire.StoreCookie{Key: "a:b", Payload: []byte("1")}, &wire.Transfer{Host: "second.example", Port: 7})
			s.drain()
		})
		opts.Transfers = login.Accept
		err := session(t.Context(), opts)
		to, ok := AsTransfer(err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		next := to.Options(opts)
		if next.Address != "second.example:7" || next.Intent != wire.IntentTransfer || string(next.Cookies["a:b"]) != "1" {
			t.Errorf("next %+v", next)
		}
	})
}

func TestVersionDetection(t *testing.T) {
	status := func(version string, protocol int) func(*peer) {
		return func(s *peer) {
			s.hello = expect[*wire.Intention](s)
			s.c.SetWriteState(wire.Status)
			expect[*wire.StatusRequest](s)
			s.send(&wire.StatusResponse{JSON: fmt.Sprintf(`{"version":{"name":%q,"protocol":%d}}`, version, protocol)})
			s.drain()
		}
	}
	t.Run("known", func(t *testing.T) {
		inBubble(t, func(t *testing.T) {
			opts := serve(t, registry.V1_20_5, status("1.20.6", 766), standing((*peer).drain))
			opts.Protocol = 0
			b, stop := joined(t, opts)
			if b.Protocol() != registry.V1_20_5 {
				t.Errorf("speaks %s", b.Protocol())
			}
			stop()
		})
	})
	for _, protocol := range []int{-1, 0, 763, 776, 1 << 30} {
		t.Run(fmt.Sprint("unknown ", protocol), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				opts := serve(t, registry.Latest, status("Odd 9", protocol)) // a second connection is an error of its own
				opts.Protocol = 0
				err := session(t.Context(), opts)
				if !errors.Is(err, login.ErrUnknownProtocol) || !strings.Contains(err.Error(), "1.20.2 (764)") || !strings.Contains(err.Error(), "Odd 9") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	t.Run("set to an unknown one", func(t *testing.T) {
		opts := serve(t, registry.Latest)
		opts.Protocol = 763
		if err := session(t.Context(), opts); !errors.Is(err, login.ErrUnknownProtocol) {
			t.Errorf("got %v", err)
		}
	})
}

// TestLookEndsItsTick sends a look out of rest: the tick that it belongs to has to end soon.
func TestLookEndsItsTick(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var l ledger
		b, stop := joined(t, serve(t, registry.Latest, standing(l.record)))
		wait(10500 * time.Millisecond)
		from := len(l.all())
		permit := permits.New(t).Take()
		b.Do(t.Context(), func(tx *Tx) {
			if err := tx.Look(permit, geom.Rotation{Yaw: 45}); err != nil {
				t.Error(err)
			}
		})
		wait(60 * time.Millisecond)
		got := l.all()[from:]
		if count[*wire.MovePlayerRot](got) != 1 || count[*wire.ClientTickEnd](got) < 1 || count[*wire.ClientTickEnd](got) > 2 {
			t.Errorf("sent %d packets: %T", len(got), got)
		}
		if s := snap(t, b); s.Rotation.Yaw != 45 || s.Sent.Effects() != 1 {
			t.Errorf("looks to %v, W=%d", s.Rotation, s.Sent.Effects())
		}
		stop()
	})
}
