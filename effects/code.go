package effects

// Code is the reason of a verdict, a demotion or a waiting state: stable names for machines, with a sentence for
// people. The zero value is no reason. Persisted: do not reorder, add at the end.
type Code uint8

// The reasons.
const (
	CodeNone Code = iota
	CodeBracketExact
	CodeBracketWrongState
	CodeCellNotShown
	CodeNoAck
	CodeOtherCounter
	CodeRefusedAck
	CodeNeverHandled
	CodeSomebodyFaster
	CodeFirstCounterStill
	CodeOutOfStep
	CodeFrozenExact
	CodeFrozenRefused
	CodeFrozenUnclear
	CodeObservedExact
	CodeObservedWrong
	CodeObservedNothing
	CodePlayerNear
	CodeBelowGrade
	CodeDemoted
	CodeReconciledExact
	CodeReconciledNothing
	CodeReconciledMixed
	CodeReconciledCells
	CodeReconciledUnknownCells
	CodeReconciledSession
	CodeReconciledClock
	CodeReconciledNeverCounted
	CodeReconciledMalformed
	CodeUnaskedReply
	CodeDoubledEntry
	CodeCounterMoved
	CodeCountedUnseen
	CodeSlotMismatch
	CodeUsedFrozen
	CodeUsedCounts
	CodeCut
	CodeWitnessThere
	CodeWitnessElsewhere
	CodeNoWitness
	CodeCorrected
	CodeNotReady
	CodeDistanceWalked
	CodeEcho
	CodeEchoAltered
	CodeNoEcho
	CodeInventoryExact
	CodeInventoryOther
	CodeProcessed
	CodeNotSent
	CodeNotArrived
	CodeReconciledGone
	codeCount
)

// codes is the table behind String and Words.
var codes = [codeCount][2]string{
	CodeNone:                   {"none", ""},
	CodeBracketExact:           {"bracket_exact", "the server counted exactly our use and showed every cell as wanted"},
	CodeBracketWrongState:      {"bracket_wrong_state", "the server counted our use, but a cell came out in another state than planned"},
	CodeCellNotShown:           {"cell_not_shown", "the server counted our use, but did not show every cell of the step"},
	CodeNoAck:                  {"no_ack", "the server counted our use, but never acknowledged it"},
	CodeOtherCounter:           {"other_counter", "another use counter moved in the same bracket, so it is not clear what we did"},
	CodeRefusedAck:             {"refused_ack", "the server handled the use, counted nothing and left the cells as they were"},
	CodeNeverHandled:           {"never_handled", "the server counted nothing, changed nothing and did not acknowledge the use"},
	CodeSomebodyFaster:         {"somebody_faster", "the server counted nothing for us, yet a cell changed: somebody else was faster"},
	CodeFirstCounterStill:      {"first_counter_still", "a cell changed but the server has never counted a use of ours: its statistics may be frozen"},
	CodeOutOfStep:              {"out_of_step", "the cells changed outside the fence replies around the use: the replies are out of step"},
	CodeFrozenExact:            {"frozen_exact", "statistics are frozen here; both cells were shown as wanted and the use was acknowledged"},
	CodeFrozenRefused:          {"frozen_refused", "statistics are frozen here; the server showed both cells unchanged and acknowledged the use"},
	CodeFrozenUnclear:          {"frozen_unclear", "statistics are frozen here and the other facts do not settle what happened"},
	CodeObservedExact:          {"observed_exact", "the wanted state appeared after the send; nothing says that it was us"},
	CodeObservedWrong:          {"observed_wrong", "another state than planned appeared after the send"},
	CodeObservedNothing:        {"observed_nothing", "the server showed no change of the cells within 40 ticks"},
	CodePlayerNear:             {"player_near", "another player stood within 8 blocks, so nothing says who placed the block"},
	CodeBelowGrade:             {"below_grade", "what was proven is less than this server's profile asks for"},
	CodeDemoted:                {"demoted", "the server's answers did not fit together earlier in this session, so its counters prove nothing"},
	CodeReconciledExact:        {"reconciled_exact", "after the rejoin the server's counters show exactly the open uses, and every cell is as wanted"},
	CodeReconciledNothing:      {"reconciled_nothing", "after the rejoin no counter has moved and every cell is as before: the open uses never ran"},
	CodeReconciledMixed:        {"reconciled_mixed", "after the rejoin the counters show neither none nor all of the open uses"},
	CodeReconciledCells:        {"reconciled_cells", "after the rejoin the cells do not fit what the counters say"},
	CodeReconciledUnknownCells: {"reconciled_unknown_cells", "after the rejoin not every cell of the open steps is loaded"},
	CodeReconciledSession:      {"reconciled_session", "leave_game is not what our own sessions explain: another session of this account, a rollback or another server"},
	CodeReconciledClock:        {"reconciled_clock", "the server's clock went backwards: the world was rolled back"},
	CodeReconciledNeverCounted: {"reconciled_never_counted", "nothing has moved, but this server has never counted a use of ours, so that proves nothing"},
	CodeReconciledMalformed:    {"reconciled_malformed", "the first statistics after the rejoin hold doubled entries"},
	CodeUnaskedReply:           {"unasked_reply", "the server sent statistics that nobody asked for"},
	CodeDoubledEntry:           {"doubled_entry", "the server sent the same statistic twice in one reply"},
	CodeCounterMoved:           {"counter_moved", "a use counter moved in a way that our uses do not explain"},
	CodeCountedUnseen:          {"counted_unseen", "the server counted our use without showing the clicked cell and the target"},
	CodeSlotMismatch:           {"slot_mismatch", "the count in the slot does not fit the uses the server counted"},
	CodeUsedFrozen:             {"used_frozen", "this server's use counter does not move: acknowledged is the best grade from here on"},
	CodeUsedCounts:             {"used_counts", "this server counted a use of ours for the first time"},
	CodeCut:                    {"cut", "the connection or the world ended before the server's answers were in"},
	CodeWitnessThere:           {"witness_there", "a second connection saw the bot so"},
	CodeWitnessElsewhere:       {"witness_elsewhere", "a second connection saw the bot otherwise"},
	CodeNoWitness:              {"no_witness", "the server tells nobody on this connection whether it happened"},
	CodeCorrected:              {"corrected", "the server put the bot somewhere else"},
	CodeNotReady:               {"not_ready", "the server ignores moves now: loading, riding, dead or waiting for a teleport"},
	CodeDistanceWalked:         {"distance_walked", "the server's own distance statistics grew by what was walked"},
	CodeEcho:                   {"echo", "the line came back under our own name"},
	CodeEchoAltered:            {"echo_altered", "a line came back under our own name with another text"},
	CodeNoEcho:                 {"no_echo", "the line did not come back under our own name"},
	CodeInventoryExact:         {"inventory_exact", "the server's inventory and selected slot show the item"},
	CodeInventoryOther:         {"inventory_other", "the server's inventory or selected slot shows something else"},
	CodeProcessed:              {"processed", "the server ran the packets and did not correct them"},
	CodeReconciledGone:         {"reconciled_gone", "after the rejoin the counters show more of the open uses than there are blocks: one ran, and its block is gone"},
	CodeNotSent:                {"not_sent", "the guard denied it in the last moment, so its packet was never sent"},
	CodeNotArrived:             {"not_arrived", "the walk ended before its goal"},
}

// String returns the code's stable name.
func (c Code) String() string {
	if c >= codeCount {
		return "invalid"
	}
	return codes[c][0]
}

// Words returns the reason as a sentence without a full stop.
func (c Code) Words() string {
	if c >= codeCount {
		return "a reason this version does not know"
	}
	return codes[c][1]
}

// MarshalText writes the code's stable name.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
