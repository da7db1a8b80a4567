package journal

import (
	"blockworld/effects"
	"blockworld/worldstate"
)

// Used returns what is known of a server's `used` statistic for a bot. Settle notes it when an outcome shows the
// server's count of one of our uses: from then on "not executed" is believed there.
func (j *Journal) Used(server string, bot worldstate.UUID) (effects.UsedTrust, error) {
	return read(j, func(t *txn) (effects.UsedTrust, error) { return t.used(server, bot) })
}

func (t *txn) used(server string, bot worldstate.UUID) (effects.UsedTrust, error) {
	record, err := t.get(trustBucket, trustKey(server, bot))
	if record == nil || err != nil {
		return effects.UsedExpected, err
	}
	d := newDecoder(record)
	u := effects.UsedTrust(d.enum(uint8(effects.UsedFrozen)))
	return u, d.close()
}

func (t *txn) trust(server string, bot worldstate.UUID, u effects.UsedTrust) error {
	old, err := t.used(server, bot)
	if err != nil || old == u {
		return err
	}
	e := newEncoder()
	e.u8(uint8(u))
	return t.put(trustBucket, trustKey(server, bot), e.b)
}

func trustKey(server string, bot worldstate.UUID) []byte {
	e := encoder{}
	e.text(server)
	e.raw(bot[:])
	return e.b
}
