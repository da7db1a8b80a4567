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
	failed error         // why it is not complete
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

// Write implements bot.Capture. What goes wrong once stays so: the file is not complete then.
func (c *captureFile) Write(r wire.CaptureRecord) error {
	if c.failed == nil {
		c.failed = c.write(r)
	}
	return c.failed
}

// captureFailed says why the file of --capture is not complete, nil when it is or when there is none.
func (s *session) captureFailed() error {
	if s.recorder == nil || s.recorder.failed == nil {
		return nil
	}
	return fmt.Errorf("--capture: %s is not complete, it could not be written (%w); the rest of the work is not touched by that", s.capture, s.recorder.failed)
}

// captureError is captureFailed in a report, empty when there is nothing to report.
func (s *session) captureError() string {
	if err := s.captureFailed(); err != nil {
		return err.Error()
	}
	return ""
}

// captured closes the file of --capture behind a command's work, which ended with err. A capture that could not be written
// fails the command; the work itself counts as it ended.
func (s *session) captured(err error) error {
	if s.recorder == nil {
		return err
	}
	s.recorder.failed = errors.Join(s.recorder.failed, s.recorder.file.Close())
	switch lost := s.captureFailed(); {
	case lost == nil:
		return err
	case err == nil:
		return fail(exitFailed, lost)
	default:
		return fail(codeOf(err, exitFailed), fmt.Errorf("%w; and %w", err, lost))
	}
}

// write writes one packet. The first one, which says the version, begins the file.
func (c *captureFile) write(r wire.CaptureRecord) error {
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
