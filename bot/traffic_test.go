package bot_test

import (
	"sync/atomic"
	"testing"
	"time"

	"blockworld/bot"
	"blockworld/fixtures/server"
	"blockworld/worldstate/registry"
)

// hurried is the machine's clock, put forward by what a test says.
type hurried struct {
	bot.RealClock
	ahead atomic.Int64
}

func (h *hurried) Now() time.Time { return time.Now().Add(time.Duration(h.ahead.Load())) }

func TestTraffic(t *testing.T) {
	s := start(t, server.Config{Protocol: registry.Latest, ViewDistance: 2})
	clock := &hurried{}
	o := options(t, s)
	o.Clock = clock
	b := run(t, o)
	await(t, b, "on the ground", onGround)
	read := func() (tr bot.Traffic, ticks uint64) {
		t.Helper()
		if err := b.Do(t.Context(), func(tx *bot.Tx) { tr, ticks = tx.Traffic(), tx.Ticks() }); err != nil {
			t.Fatal(err)
		}
		return tr, ticks
	}
	first, _ := read()
	if first.PacketsIn == 0 || first.PacketsOut == 0 || first.BytesIn <= first.PacketsIn || first.BytesOut <= first.PacketsOut {
		t.Errorf("after a join: %+v", first)
	}
	// The loop is busy for a second while its next tick comes due. A tick may also have run just before it.
	after, ticks := read()
	for n := 0; after.TicksLate == first.TicksLate; n++ {
		if n == 100 {
			t.Fatalf("no tick that came a second late is counted: %+v", after)
		}
		await(t, b, "a tick, with another due", func(tx *bot.Tx) bool { tx.Wake(2); return tx.Ticks() > ticks })
		if err := b.Do(t.Context(), func(*bot.Tx) { clock.ahead.Add(int64(time.Second)) }); err != nil {
			t.Fatal(err)
		}
		_, ticks = read()
		await(t, b, "the tick after it", func(tx *bot.Tx) bool { return tx.Ticks() > ticks })
		after, ticks = read()
	}
	if after.PacketsOut < first.PacketsOut || after.BytesIn < first.BytesIn {
		t.Errorf("%+v after %+v", after, first)
	}
}
