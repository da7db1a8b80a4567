package journal

import (
	"bytes"
	"errors"
	"testing"

	"blockworld/effects"
)

// FuzzVerify: any bytes are a verified export or a named error, never a panic; and only signed ones pass.
func FuzzVerify(f *testing.F) {
	j := filled(f, 2, true)
	good := export(f, j)
	pin := j.Fingerprint()
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(join(lines(good)[:3]...))
	f.Add([]byte("{\"format\":\"blockworld receipts\",\"version\":1}\n{\"entry\":\"\",\"signature\":\"\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Verify(bytes.NewReader(data), pin)
		if err == nil && (!r.Pinned || !bytes.Equal(data, good)) {
			t.Fatalf("%d bytes pass for the pinned signer's", len(data))
		}
	})
}

// FuzzRecords: any record decodes or is refused, and what decodes has no other form.
func FuzzRecords(f *testing.F) {
	m := mark(1, 1)
	m.Outstanding = []Outstanding{{Action: actionID(2), Counted: true}}
	f.Add(byte(0), m.encode())
	mi := mission(testMission)
	f.Add(byte(1), mi.encode())
	a := Action{ID: actionID(1), Step: m.Step, Places: true, Status: StatusProven}
	f.Add(byte(2), a.encode())
	s := Step{Key: m.Step, Action: actionID(1), Status: StatusOpen}
	f.Add(byte(3), s.encode())
	c := chainEntry{number: 1, kind: chainReceipt, body: []byte{1, 2}}
	f.Add(byte(4), c.record())
	f.Fuzz(func(t *testing.T, which byte, record []byte) {
		var again []byte
		var err error
		switch which % 5 {
		case 0:
			v, e := decodeMark(record)
			again, err = v.encode(), e
		case 1:
			v, e := decodeMission(record)
			again, err = v.encode(), e
		case 2:
			v, e := decodeAction(record)
			again, err = v.encode(), e
		case 3:
			v, e := decodeStepRecord(record)
			again, err = v.encode(), e
		case 4:
			v, e := decodeChainRecord(record)
			again, err = v.record(), e
		}
		if err == nil && !bytes.Equal(again, record) {
			t.Fatalf("kind %d has two forms:\n%x\n%x", which%5, record, again)
		}
	})
}

// FuzzPages: any file is a journal or is refused, never a panic.
func FuzzPages(f *testing.F) {
	_, data := aged(f, 3)
	f.Add(uint32(0), byte(0), uint32(len(data)))
	f.Add(uint32(4096+8), byte(1), uint32(len(data)))
	f.Add(uint32(3*4096+12), byte(0xff), uint32(9000))
	f.Fuzz(func(t *testing.T, at uint32, change byte, size uint32) {
		c := bytes.Clone(data[:min(int(size), len(data))])
		if len(c) > 0 {
			c[int(at)%len(c)] ^= change
		}
		_, err := content(c)
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrForeignVersion) {
			t.Fatal(err)
		}
	})
}

// FuzzFingerprint: any text is a fingerprint or an error.
func FuzzFingerprint(f *testing.F) {
	f.Add("SHA256:" + "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("SHA256:")
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ParseFingerprint(s); err == nil {
			if back, err := ParseFingerprint(k.String()); err != nil || back != k {
				t.Fatal(s)
			}
		}
	})
}

// BenchmarkMark measures one durable mark and one durable receipt per step, for one caller and for many.
func BenchmarkMark(b *testing.B) {
	open := func(b *testing.B) *Journal {
		j, err := Open(b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { j.Close() })
		m := mission(testMission)
		m.Budgets.Uses, m.Budgets.Quantity = 1<<30, 1<<30
		if err := j.PutMission(m); err != nil {
			b.Fatal(err)
		}
		return j
	}
	b.Run("mark", func(b *testing.B) {
		j := open(b)
		for n := uint32(0); b.Loop(); n++ {
			mustMark(b, j, mark(n, n))
		}
	})
	b.Run("mark, settle, cursor", func(b *testing.B) {
		j := open(b)
		for n := uint32(0); b.Loop(); n++ {
			m := mark(n, n)
			mustMark(b, j, m)
			mustSettle(b, j, outcome(m, effects.Proven))
			if err := j.MoveCursor(testMission, effects.Cursor{Count: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
