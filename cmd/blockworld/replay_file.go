package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"blockworld/bot/wire"
	"blockworld/worldstate/registry"
)

// captureFile is the file of --capture. It holds all sessions of a command, one after another; each begins with its
// handshake. Every packet is handed to the system at once, so that a killed program leaves all it saw.
type captureFile struct {
	file   *os.File
	w      *wire.CaptureWriter
	before time.Duration // that the sessions before this one took
	last   time.Duration
}

// newCaptureFile starts the file anew. It stays open until the program ends.
func newCaptureFile(path string) (*captureFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("--capture: %w", err))
	}
	return &captureFile{file: f}, nil
}

// Write implements bot.Capture. The first packet, which says the version, begins the file.
func (c *captureFile) Write(r wire.CaptureRecord) error {
	if c.w == nil {
		p, err := wire.DecodePacket(registry.Latest, r.State, r.Direction, r.Data)
		hello, ok := p.(*wire.Intention)
		if err != nil || !ok {
			return errors.Join(errors.New("a capture begins with the handshake"), err)
		}
		if c.w, err = wire.NewCaptureWriter(c.file, wire.CaptureHeader{Protocol: registry.Protocol(hello.Protocol), Program: "blockworld"}); err != nil {
			return err
		}
	}
	if begins(r) {
		c.before = c.last
	}
	r.At += c.before
	c.last = r.At
	if err := c.w.Write(r); err != nil {
		return err
	}
	return c.w.Flush()
}
