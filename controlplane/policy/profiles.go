package policy

// profileRow is one row of a profile's table: for effects within its sets it says its result.
type profileRow struct {
	risks, operations, ownerships set
	reversible                    bool // only reversible ones
	result                        Result
	why                           string
}

// profiles holds each profile's table. The first row that matches answers; the last one matches always.
var profiles = [profileCount][]profileRow{
	Guarded: {
		{of(RiskHigh, RiskCritical), every, every, false, Deny,
			"profile guarded denies what is of high or critical risk; a rule of yours can allow it, or choose another profile"},
		{of(RiskLow), of(OperationRead), every, false, Allow, "profile guarded allows reads of low risk"},
		{of(RiskLow), of(OperationCommunicate), every, false, Allow, "profile guarded allows communication of low risk"},
		{of(RiskLow), every, of(OwnershipOwn), true, Allow, "profile guarded allows reversible actions of low risk on what is one's own"},
		{every, every, every, false, Confirm,
			"profile guarded wants everything else confirmed; confirm it, or allow it by a rule"},
	},
	Survival: {
		{of(RiskCritical), every, every, false, Deny,
			"profile survival denies what is of critical risk; a rule of yours can allow it, or choose another profile"},
		{of(RiskHigh), every, every, false, Confirm,
			"profile survival wants high risk confirmed; confirm it, or allow it by a rule"},
		{every, every, of(OwnershipPlayer, OwnershipShared, OwnershipSystem), false, Confirm,
			"profile survival wants confirmed what touches things of other players, shared things or the system's; confirm it, or allow it by a rule"},
		{every, every, every, false, Allow, "profile survival allows ordinary effects"},
	},
	Open: {
		{of(RiskCritical), every, every, false, Confirm,
			"profile open wants critical risk confirmed; confirm it, or allow it by a rule"},
		{every, every, every, false, Allow, "profile open allows what is not critical"},
	},
	PrivilegedCustom: {
		{of(RiskCritical), every, every, false, Confirm,
			"profile privileged-custom wants critical risk confirmed; confirm it, or allow it by a rule"},
		{every, every, every, false, Allow, "profile privileged-custom allows what is not critical and no rule speaks of"},
	},
}

// profileRowOf returns the number of the row that answers for an effect.
func profileRowOf(p Profile, v *effect) int {
	rows := profiles[p]
	for i := range rows {
		r := &rows[i]
		if r.risks.has(uint8(v.risk)) && r.operations.has(uint8(v.operation)) && r.ownerships.has(uint8(v.ownership)) &&
			(v.reversible || !r.reversible) {
			return i
		}
	}
	return len(rows) - 1
}
