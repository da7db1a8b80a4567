package journal

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"blockworld/effects"
	"blockworld/worldstate/geom"
)

// An export is lines of JSON. The first says what it is; then one line per chain entry, its bytes and signature beside a
// copy that people can read; the last is the signed head. A reader rebuilds every line from the bytes and refuses one
// that differs in anything, so what people read is what was signed.

const exportFormat = "blockworld receipts"

type headerLine struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

type entryLine struct {
	Number    uint64       `json:"number"`
	Key       string       `json:"key"` // fingerprint of the signer
	Names     string       `json:"names_key,omitempty"`
	Receipt   *receiptLine `json:"receipt,omitempty"`
	Entry     []byte       `json:"entry"`
	Signature []byte       `json:"signature"`
}

// receiptLine is a receipt for people.
type receiptLine struct {
	Action      string        `json:"action"`
	Mission     string        `json:"mission"`
	Effect      string        `json:"effect"`
	Server      string        `json:"server"`
	Dimension   string        `json:"dimension,omitempty"`
	Step        uint32        `json:"step"`
	Ordinal     uint32        `json:"ordinal"`
	Generation  uint32        `json:"generation"`
	Cells       []cellLine    `json:"cells,omitempty"`
	Grade       effects.Grade `json:"grade"`
	Attribution string        `json:"attribution"`
	Reconciled  bool          `json:"reconciled"`
	Reason      effects.Code  `json:"reason"`
	UnixMilli   int64         `json:"unix_milli"`
}

type cellLine struct {
	Pos    [3]int32 `json:"pos"`
	From   uint16   `json:"from"`
	To     uint16   `json:"to"`
	Masked []string `json:"masked,omitempty"`
}

type headLine struct {
	Entries   uint64         `json:"entries"`
	Receipts  uint64         `json:"receipts"`
	Last      effects.Digest `json:"last"`
	Key       string         `json:"key"`
	UnixMilli int64          `json:"unix_milli"`
	Signature []byte         `json:"head_signature"`
}

// signedHead is what the head's signature is made over.
func signedHead(h chainHead, unixMilli int64) []byte {
	e := newEncoder()
	e.u64(h.entries)
	e.u64(h.receipts)
	e.raw(h.hash[:])
	e.raw(h.key[:])
	e.u64(uint64(unixMilli))
	sum := sha256.Sum256(e.b)
	return append([]byte(headContext), sum[:]...)
}

// Export writes the whole chain with a signed head behind it, and returns how many receipts it holds.
func (j *Journal) Export(out io.Writer) (receipts uint64, err error) {
	w := bufio.NewWriter(out)
	if err := writeLine(w, headerLine{exportFormat, 1}); err != nil {
		return 0, err
	}
	j.mu.Lock()
	key := j.key
	j.mu.Unlock()
	head, err := read(j, func(t *txn) (chainHead, error) {
		h, err := t.loadHead()
		if err != nil {
			return h, err
		}
		return h, t.each(chainBucket, nil, func(_, record []byte) error {
			c, err := decodeChainRecord(record)
			if err != nil {
				return err
			}
			line, err := c.line()
			if err != nil {
				return err
			}
			return writeLine(w, line)
		})
	})
	if err != nil {
		return 0, err
	}
	if head.key != KeyIDOf(public(key)) {
		return 0, fmt.Errorf("export: %w: it was rotated meanwhile, export again", ErrWrongKey)
	}
	now := j.opts.Now().UnixMilli()
	line := headLine{head.entries, head.receipts, head.hash, head.key.String(), now, ed25519.Sign(key, signedHead(head, now))}
	if err := writeLine(w, line); err != nil {
		return 0, err
	}
	return head.receipts, storage(w.Flush())
}

// line renders an entry. Equal entries give equal bytes.
func (c *chainEntry) line() (entryLine, error) {
	l := entryLine{Number: c.number, Key: c.key.String(), Entry: c.content(), Signature: c.signature[:]}
	switch c.kind {
	case chainKey:
		p, err := c.keyOf()
		if err != nil {
			return l, err
		}
		l.Names = KeyIDOf(p).String()
	case chainReceipt:
		r, err := c.receipt()
		if err != nil {
			return l, err
		}
		l.Receipt = describe(&r.Outcome)
	}
	return l, nil
}

func describe(o *effects.Outcome) *receiptLine {
	l := &receiptLine{
		Action: o.Action.String(), Mission: o.Mission.String(), Effect: o.Postcondition.Capability().String(), Server: o.Server,
		Dimension: o.Step.Dimension, Step: o.Step.Index, Ordinal: o.Step.Ordinal, Generation: o.Step.Generation,
		Grade: o.Grade, Attribution: o.Attribution.String(), Reconciled: o.Reconciled, Reason: o.Code, UnixMilli: o.UnixMilli,
	}
	if p, ok := o.Postcondition.(effects.CellsBecome); ok {
		for _, c := range p.Cells {
			l.Cells = append(l.Cells, cellLine{xyz(c.Pos), uint16(c.From), uint16(c.To), c.Masked})
		}
	}
	return l
}

func xyz(p geom.BlockPos) [3]int32 { return [3]int32{p.X, p.Y, p.Z} }

func renderLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v) // ends with a newline
	return b.Bytes(), err
}

func writeLine(w io.Writer, v any) error {
	b, err := renderLine(v)
	if err == nil {
		_, err = w.Write(b)
	}
	return storage(err)
}
