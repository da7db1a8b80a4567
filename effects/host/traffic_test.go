package host_test

import (
	"encoding/json"
	"errors"
	"testing"

	"blockworld/effects/host"
)

func TestTraffic(t *testing.T) {
	p := host.Publication{Actor: "builder-1", Epoch: host.Epoch{Host: 1, World: 1, Timeline: 1}, Sequence: 1, GameTick: -1}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	p.Traffic = host.Traffic{PacketsIn: 1, BytesIn: 1<<53 - 1}
	if err := p.Validate(); err != nil {
		t.Errorf("the largest counter: %v", err)
	}
	for _, wrong := range []host.Traffic{{PacketsIn: 1 << 53}, {PacketsOut: 1 << 53}, {BytesIn: 1 << 53}, {BytesOut: 1 << 63}, {TicksLate: 1 << 60}} {
		p.Traffic = wrong
		if err := p.Validate(); !errors.Is(err, host.ErrInvalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	p.Traffic = host.Traffic{PacketsOut: 3}
	b, err := json.Marshal(p)
	var back host.Publication
	if err != nil || json.Unmarshal(b, &back) != nil || back.Traffic != p.Traffic {
		t.Errorf("%s, %v", b, err)
	}
}
