package journal

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"blockworld/effects"
)

// What can be wrong with an export. Each has words of its own, and each says what to do.
var (
	ErrNotExport      = errors.New("this is no receipts export")
	ErrChanged        = errors.New("something was changed after it was signed; do not trust this file")
	ErrReceiptsCut    = errors.New("receipts are missing: the signed head counts more than are here; ask for the whole file")
	ErrOutOfOrder     = errors.New("receipts are not in the order they were signed in; ask for the file as it was exported")
	ErrOtherSigner    = errors.New("signed by another key than the pinned one; do not trust this file unless you know that key")
	ErrUnknownSigner  = errors.New("signed by a key that the chain does not name; do not trust this file")
	ErrNoHead         = errors.New("the signed head at the end is missing: the file was cut; ask for the whole file")
	ErrAfterHead      = errors.New("something stands behind the signed head; do not trust this file")
	ErrDoubledReceipt = errors.New("two receipts for one action; do not trust this file")
)

const maxLine = 8 << 20 // bytes; a receipt line is a few kilobytes

// Report is what a verified export says.
type Report struct {
	Receipts    uint64
	Pinned      bool
	First       KeyID // who signed the first entry
	Signer      KeyID // who signed the head
	Rotations   int
	Fingerprint string // the signer's, to compare or pin
}

// String says it in a line for people.
func (r Report) String() string {
	pinned := "signer not pinned: compare the fingerprint with its owner"
	if r.Pinned {
		pinned = "signer pinned"
	}
	return fmt.Sprintf("%d receipts, chain and signatures valid, signed by %s (%s)", r.Receipts, r.Signer, pinned)
}

// Verify reads an export and checks all of it. A pin that is not zero must be a key of the chain: either the first one,
// or one that it was rotated to and that, or whose successor, signed the head.
func Verify(in io.Reader, pin KeyID) (Report, error) {
	v := verifier{keys: map[KeyID]ed25519.PublicKey{}, actions: map[effects.ActionID]bool{}}
	if err := v.read(in); err != nil {
		return Report{}, err
	}
	return v.judge(pin)
}

// link is what is kept of an entry between the two passes.
type link struct {
	number         uint64
	previous, hash effects.Digest
	key            KeyID
	names          KeyID // of a key entry
	signed         []byte
	signature      []byte
	line           int
}

type verifier struct {
	links    []link
	receipts uint64
	keys     map[KeyID]ed25519.PublicKey
	actions  map[effects.ActionID]bool
	doubled  int // line of a second receipt for an action
	head     *headLine
	line     int
}

// read takes all lines in and checks each by itself.
func (v *verifier) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err == io.EOF && len(line) == 0 {
			break
		}
		v.line++
		if err != nil && err != io.EOF {
			return fmt.Errorf("line %d: %w", v.line, err)
		}
		if v.head != nil {
			return fmt.Errorf("line %d: %w", v.line, ErrAfterHead)
		}
		if err := v.take(line); err != nil {
			return fmt.Errorf("line %d: %w", v.line, err)
		}
		if err == io.EOF { // every line of ours ends with a newline
			return fmt.Errorf("line %d: %w", v.line, v.unended())
		}
	}
	if v.line == 0 {
		return ErrNotExport
	}
	if v.head == nil {
		return ErrNoHead
	}
	return nil
}

// unended names what a last line without its newline means.
func (v *verifier) unended() error {
	if v.head != nil {
		return ErrChanged
	}
	return ErrNoHead
}

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrNotExport, maxLine)
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}

func (v *verifier) take(line []byte) error {
	if v.line == 1 {
		var h headerLine
		if json.Unmarshal(line, &h) != nil || h.Format != exportFormat {
			return ErrNotExport
		}
		if h.Version != 1 {
			return fmt.Errorf("%w: version %d, this program reads 1", ErrNotExport, h.Version)
		}
		return same(line, h)
	}
	if bytes.Contains(line, []byte(`"head_signature"`)) {
		var h headLine
		if json.Unmarshal(line, &h) != nil {
			return ErrChanged
		}
		v.head = &h
		return same(line, h)
	}
	var l struct{ Entry, Signature []byte } // the rest is rebuilt from these two
	if json.Unmarshal(line, &l) != nil || len(l.Signature) != ed25519.SignatureSize {
		return changedOrCut(line)
	}
	c, err := decodeChainEntry(l.Entry)
	if err != nil {
		return fmt.Errorf("%w (%v)", ErrChanged, err)
	}
	copy(c.signature[:], l.Signature)
	again, err := c.line()
	if err != nil {
		return fmt.Errorf("%w (%v)", ErrChanged, err)
	}
	if err := same(line, again); err != nil {
		return err
	}
	return v.add(&c)
}

// changedOrCut tells a line that was cut in its middle from one that was changed.
func changedOrCut(line []byte) error {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return ErrNoHead
	}
	return ErrChanged
}

// same refuses a line that is not, byte for byte, what its content renders to.
func same(line []byte, content any) error {
	want, err := renderLine(content)
	if err != nil || !bytes.Equal(bytes.TrimSuffix(want, []byte("\n")), bytes.TrimSuffix(line, []byte("\n"))) {
		return ErrChanged
	}
	return nil
}

func (v *verifier) add(c *chainEntry) error {
	l := link{
		number: c.number, previous: c.previous, hash: c.hash(), key: c.key, signed: c.signed(),
		signature: bytes.Clone(c.signature[:]), line: v.line,
	}
	switch c.kind {
	case chainKey:
		p, err := c.keyOf()
		if err != nil {
			return fmt.Errorf("%w (%v)", ErrChanged, err)
		}
		l.names = KeyIDOf(p)
		v.keys[l.names] = bytes.Clone(p)
	case chainReceipt:
		r, err := c.receipt()
		if err != nil {
			return fmt.Errorf("%w (%v)", ErrChanged, err)
		}
		if v.actions[r.Outcome.Action] {
			v.doubled = v.line
		}
		v.actions[r.Outcome.Action] = true
		v.receipts++
	}
	v.links = append(v.links, l)
	return nil
}

// judge checks the entries against each other, the head and the pin. Signatures come first: only what is signed can
// tell that something else is missing or out of place.
func (v *verifier) judge(pin KeyID) (Report, error) {
	for _, l := range v.links {
		if err := v.signature(l.key, l.signed, l.signature); err != nil {
			return Report{}, fmt.Errorf("line %d: %w", l.line, err)
		}
	}
	if err := v.order(); err != nil {
		return Report{}, err
	}
	if err := v.checkHead(); err != nil {
		return Report{}, fmt.Errorf("signed head: %w", err)
	}
	signer, pinned, rotations, err := v.lineage(pin)
	if err != nil {
		return Report{}, err
	}
	if v.doubled > 0 {
		return Report{}, fmt.Errorf("line %d: %w", v.doubled, ErrDoubledReceipt)
	}
	return Report{
		Receipts: v.receipts, Pinned: pinned, First: v.links[0].key, Signer: signer, Rotations: rotations,
		Fingerprint: signer.String(),
	}, nil
}

func (v *verifier) signature(key KeyID, signed, signature []byte) error {
	p, ok := v.keys[key]
	if !ok {
		return fmt.Errorf("%w: %s", ErrUnknownSigner, key)
	}
	if !ed25519.Verify(p, signed, signature) {
		return fmt.Errorf("%w (signature)", ErrChanged)
	}
	return nil
}

// order checks numbers and hashes, and tells missing entries from swapped ones.
func (v *verifier) order() error {
	var numbers []uint64
	inOrder := true
	previous := effects.Digest{}
	for i, l := range v.links {
		numbers = append(numbers, l.number)
		inOrder = inOrder && l.number == uint64(i)+1 && l.previous == previous
		previous = l.hash
	}
	if inOrder {
		return nil
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && n == numbers[i-1] {
			return fmt.Errorf("entry %d twice: %w", n, ErrOutOfOrder)
		}
		if n != uint64(i)+1 {
			return fmt.Errorf("entry %d: %w", i+1, ErrReceiptsCut)
		}
	}
	return ErrOutOfOrder
}

func (v *verifier) checkHead() error {
	h := v.head
	key, err := ParseFingerprint(h.Key)
	if err != nil {
		return ErrChanged
	}
	head := chainHead{entries: h.Entries, receipts: h.Receipts, hash: h.Last, key: key}
	// A key that only the missing tail names is a sign of the missing tail, so the count is looked at first.
	if _, known := v.keys[key]; !known && h.Entries > uint64(len(v.links)) {
		return fmt.Errorf("%w (%d of %d entries)", ErrReceiptsCut, len(v.links), h.Entries)
	}
	if err := v.signature(key, signedHead(head, h.UnixMilli), h.Signature); err != nil {
		return err
	}
	switch n := uint64(len(v.links)); {
	case n < h.Entries || n == 0:
		return fmt.Errorf("%w (%d of %d entries)", ErrReceiptsCut, n, h.Entries)
	case n > h.Entries:
		return fmt.Errorf("%w (%d entries, the head counts %d)", ErrChanged, n, h.Entries)
	case v.links[n-1].hash != h.Last || v.receipts != h.Receipts:
		return ErrChanged
	}
	return nil
}

// lineage follows the keys: the first signs itself, each further one is named by the one before it.
func (v *verifier) lineage(pin KeyID) (signer KeyID, pinned bool, rotations int, err error) {
	for i, l := range v.links {
		switch {
		case i == 0 && (l.names == KeyID{} || l.names != l.key):
			return signer, false, 0, fmt.Errorf("line %d: %w: the first entry names no key", l.line, ErrUnknownSigner)
		case i > 0 && l.key != signer:
			return signer, false, 0, fmt.Errorf("line %d: %w: %s signs where %s should", l.line, ErrUnknownSigner, l.key, signer)
		case i > 0 && l.names != KeyID{}:
			rotations++
		}
		if l.names != (KeyID{}) {
			signer = l.names
			pinned = pinned || signer == pin
		}
	}
	if v.head.Key != signer.String() {
		return signer, false, 0, fmt.Errorf("signed head: %w: %s signs where %s should", ErrUnknownSigner, v.head.Key, signer)
	}
	if pin != (KeyID{}) && !pinned {
		return signer, false, 0, fmt.Errorf("%w: it is signed by %s, pinned is %s", ErrOtherSigner, signer, pin)
	}
	return signer, pinned, rotations, nil
}
