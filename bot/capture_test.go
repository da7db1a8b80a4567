package bot

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"blockworld/bot/wire"
	"blockworld/worldstate/registry"
)

func TestCapture(t *testing.T) {
	eachProtocol(t, func(t *testing.T, p registry.Protocol) {
		var file bytes.Buffer
		w, err := wire.NewCaptureWriter(&file, wire.CaptureHeader{Protocol: p, Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		opts := serve(t, p, standing((*peer).drain))
		opts.Capture = w
		_, stop := joined(t, opts)
		wait(2 * time.Second)
		stop()
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := wire.NewCaptureReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			pk, err := wire.DecodePacket(p, rec.State, rec.Direction, rec.Data)
			if err != nil {
				t.Fatal(err)
			}
			seen[wire.PacketName(rec.State, rec.Direction, pk)]++
		}
		for name, n := range map[string]int{"intention": 1, "login_finished": 1, "finish_configuration": 2, "login": 1, "level_chunk_with_light": 9, "player_position": 1, "accept_teleportation": 1} {
			if seen[name] != n {
				t.Errorf("%d of %s, want %d", seen[name], name, n)
			}
		}
	})
}
