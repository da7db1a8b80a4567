package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane"
)

// MaxLine bounds a message on standard input, in bytes: a blueprint in base64 and something around it.
const MaxLine = maxBody

// lastAnswers is how long requests that are under way at the input's end have for their answers: as long as the longest wait,
// and a little more.
const lastAnswers = controlplane.MaxWaitMS*time.Millisecond + 5*time.Second

// Serve speaks the protocol over a pair of streams, one message a line, until the input or ctx ends. Nothing else may write
// to out. A line that is no message is answered as such and ends nothing. What was asked before the input's end is answered.
func Serve(ctx context.Context, gw Gateway, version string, now func() time.Time, in io.Reader, out io.Writer) error {
	return New(gw, version, now).Run(ctx, stdio(ctx, in, out, lastAnswers))
}

// stdio is the protocol's transport over a pair of streams. The SDK ends a session at the first line that it cannot read, so
// it gets to see only those that it can; and at the input's end it drops what is under way, so it hears of that end when all is
// answered, or patience is over.
func stdio(ctx context.Context, in io.Reader, out io.Writer, patience time.Duration) sdk.Transport {
	w := &lineWriter{w: out, open: map[jsonrpc.ID]int{}, answered: make(chan struct{}, 1)}
	return &sdk.IOTransport{
		Reader:        io.NopCloser(&messages{ctx: ctx, in: bufio.NewReaderSize(in, 64<<10), out: w, patience: patience}),
		Writer:        w,
		MaxLineLength: -1, // what comes here is bounded already
	}
}

// lineWriter writes whole lines of several goroutines, and is not closed by the protocol: the streams are their owner's. It
// knows which requests are not answered yet.
type lineWriter struct {
	mu       sync.Mutex
	w        io.Writer
	open     map[jsonrpc.ID]int // requests without an answer, by id
	answered chan struct{}      // has something when an answer was written
}

// Write writes one line; the SDK writes each message at once.
func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.w.Write(p)
	if m, bad := jsonrpc.DecodeMessage(bytes.TrimSpace(p)); bad == nil {
		if r, ok := m.(*jsonrpc.Response); ok {
			l.count(r.ID, -1)
		}
	}
	select {
	case l.answered <- struct{}{}:
	default:
	}
	return n, err
}

// asked takes note of a message that wants an answer.
func (l *lineWriter) asked(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.count(r.ID, 1)
	}
}

// count counts requests of an id. The lock is held.
func (l *lineWriter) count(id jsonrpc.ID, n int) {
	if l.open[id] += n; l.open[id] <= 0 {
		delete(l.open, id)
	}
}

// rest waits until every request is answered.
func (l *lineWriter) rest(ctx context.Context) {
	for {
		l.mu.Lock()
		open := len(l.open)
		l.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-l.answered:
		case <-ctx.Done():
			return
		}
	}
}

// Close does nothing.
func (l *lineWriter) Close() error { return nil }

// messages reads those lines that are messages, each with its line's end, and answers all others by itself.
type messages struct {
	ctx      context.Context
	in       *bufio.Reader
	out      *lineWriter
	left     []byte        // of the message that is being read
	patience time.Duration // for the last answers
}

// Read gives bytes of the next message.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		line, err := m.line()
		switch {
		case errors.Is(err, errTooLong):
			m.refuse(nil, jsonrpc.CodeParseError, "the message is longer than 2 MiB")
		case err != nil:
			ctx, done := context.WithTimeout(m.ctx, m.patience)
			defer done()
			m.out.rest(ctx)
			return 0, err
		case len(line) > 0 && m.good(line):
			m.left = append(line, '\n')
		}
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

var errTooLong = errors.New("the line is too long")

// line reads one line without its end; an overlong one is read over. The last one needs no end.
func (m *messages) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errTooLong
		case err == io.EOF && len(line) > 0:
			return bytes.TrimSpace(line), nil
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// good tells whether the SDK will take a line; one that it would not take is answered.
func (m *messages) good(line []byte) bool {
	switch {
	case !json.Valid(line):
		m.refuse(nil, jsonrpc.CodeParseError, "the line is no JSON: send one message a line")
		return false
	case line[0] == '[':
		m.refuse(nil, jsonrpc.CodeInvalidRequest, "batches are not taken: send one message a line")
		return false
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		m.refuse(idOf(line), jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
		return false
	}
	m.out.asked(message)
	return true
}

// idOf is the id of a line that is no message, if it has one that can be answered.
func idOf(line []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 || bytes.IndexByte([]byte(`"-0123456789`), m.ID[0]) < 0 {
		return nil
	}
	return m.ID
}

// refuse answers a line that is no message. Nobody hears it when the output is gone, and then the next read ends too.
func (m *messages) refuse(id json.RawMessage, code int, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}}) // strings and numbers
	_, _ = m.out.Write(append(b, '\n'))
}
