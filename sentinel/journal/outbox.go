package journal

import "blockworld/effects"

// Message is an outcome on its way to a control plane. It is stored with the outcome itself.
type Message struct {
	Number  uint64
	Action  effects.ActionID
	Mission effects.MissionID
	Status  Status
	Outcome effects.Digest
}

func (t *txn) post(m Message) error {
	e := newEncoder()
	e.raw(m.Action[:])
	e.raw(m.Mission[:])
	e.u8(uint8(m.Status))
	e.raw(m.Outcome[:])
	return t.put(outboxBucket, number(t.next(outboxBucket, nil)), e.b)
}

// Outbox returns all messages that were not acknowledged, oldest first.
func (j *Journal) Outbox() ([]Message, error) {
	return read(j, func(t *txn) ([]Message, error) {
		var out []Message
		err := t.each(outboxBucket, nil, func(key, record []byte) error {
			d := newDecoder(record)
			m := Message{Number: numberOf(key)}
			d.fill(m.Action[:])
			d.fill(m.Mission[:])
			m.Status = Status(d.enum(uint8(statusCount) - 1))
			d.fill(m.Outcome[:])
			out = append(out, m)
			return d.close()
		})
		return out, err
	})
}

// AckOutbox drops messages that were delivered, in one transaction; a number that is not there is no error.
func (j *Journal) AckOutbox(delivered ...uint64) error {
	return j.update(func(t *txn) error {
		for _, n := range delivered {
			if err := t.delete(outboxBucket, number(n)); err != nil {
				return err
			}
		}
		return nil
	})
}
