package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blockworld/controlplane"
	"blockworld/effects"
)

// What tools need. The gateway decides; these say in front of it what is of no use to ask.
var (
	reads    = controlplane.Scopes(controlplane.ScopeRead)
	controls = controlplane.Scopes(controlplane.ScopeControl)
	executes = controlplane.Scopes(controlplane.ScopeExecute)
	confirms = controlplane.Scopes(controlplane.ScopeConfirm)
	cancels  = controlplane.Scopes(controlplane.ScopeCancel)
	governs  = controlplane.Scopes(controlplane.ScopeControl, controlplane.ScopeAdmin) // the actor's owner, or an admin
)

// hints are what a client may show a person before a call.
type hints uint8

const (
	readOnly hints = iota
	control        // changes who may drive, or what will be done; no effect in the world by itself
	effect         // asks for an effect in a world; with a key, asking again does nothing more
	ending         // ends something that is under way
)

// tool is one row of the table of tools.
type tool struct {
	name, title, about string
	hints              hints
	needs              controlplane.ScopeSet // a caller with none of these is refused, so the tool is not listed for them
	capability         effects.Capability    // the tool is this capability's; zero for the others
	props              string                // properties of the arguments, as members of a JSON object
	required           string                // their names, separated by blanks
	run                func(context.Context, *call) (any, error)
}

// Schemas of arguments that several tools take.
const (
	argActor       = `"actor":{"type":"string","minLength":1,"maxLength":64,"description":"id of the actor, from list_actors"}`
	argLease       = `"lease":{"type":"string","minLength":1,"maxLength":128,"description":"id of the lease you hold, from acquire_lease"}`
	argKey         = `"key":{"type":"string","minLength":1,"maxLength":128,"description":"your own name for this one intention; asking again with the same key gives the same operation"}`
	argObservation = `"observation":{"type":"string","pattern":"^[0-9]+\\.[0-9]+\\.[0-9]+@[0-9]+$","description":"from the newest observe of this actor"}`
	argTask        = `"task":{"type":"string","maxLength":64,"description":"name of the piece of work it belongs to; needed for build_structure"}`
	argOp          = `"operation":{"type":"string","pattern":"^[0-9a-f]{32}$","description":"id of an operation"}`
	argTTL         = `"ttl_seconds":{"type":"integer","minimum":5,"maximum":300}`
	argWhy         = `"why":{"type":"string","maxLength":200}`
	argCursor      = `"cursor":{"type":"string","maxLength":512,"description":"from the last answer; leave out at first"}`
	argAction      = argActor + "," + argLease + "," + argKey + "," + argObservation + "," + argTask
)

// tools is the table: what a client can ask, and no more. Effects and reads take the arguments of their capability too.
var tools = []tool{
	{"list_actors", "List actors", "Lists the bots you can see, where they are and who drives them.", readOnly, reads, 0, "", "", listActors},
	{"observe", "Observe an actor", "The newest published view of an actor, with the observation that actions need.", readOnly, reads, 0, argActor, "actor", observe},
	{"list_capabilities", "List capabilities", "What an actor can be asked for, with schemas, risks, grades of proof and how each can be cancelled.", readOnly, reads, 0, argActor, "actor", capabilities},

	reading(effects.WorldStatus, "Health, position, dimension, time, budgets of an actor."),
	reading(effects.InventorySummary, "What an actor carries."),
	reading(effects.ScanRegion, "The blocks of a box that an actor has loaded."),
	reading(effects.NearbyEntities, "Entities around an actor."),
	reading(effects.ChatSince, "Public chat after a cursor."),

	{"acquire_lease", "Acquire the lease", "Takes the exclusive right to drive an actor; asking again renews it.", control, controls, 0, argActor + "," + argTTL, "actor", acquire},
	{"renew_lease", "Renew the lease", "Extends a lease that you hold.", control, controls, 0, argActor + "," + argLease + "," + argTTL, "actor lease", renew},
	{"release_lease", "Release the lease", "Gives a lease back. What waits under it becomes stale.", ending, controls, 0, argActor + "," + argLease, "actor lease", release},

	acting(effects.MoveTo, "Walks an actor into a cell."),
	acting(effects.LookAt, "Turns an actor's head towards a point."),
	acting(effects.Say, "Says one public line."),
	acting(effects.Equip, "Takes an item of the hotbar into the hand."),
	acting(effects.PlaceBlock, "Places one full block state in one cell; proven by the server's own packets, with a receipt."),
	{"build_structure", "Build a structure", "Builds a stored blueprint, block by block, each with a receipt; watch it with wait and list_operations.", effect, executes, 0,
		argAction + `,"arguments":{"type":"object","description":"as list_capabilities shows for build_structure"}`, "actor lease key observation task arguments", build},

	{"wait", "Wait", "Waits up to 25 s for news of an operation, or of an actor. The end of the wait cancels nothing; changed=false says only that nothing newer was seen.", readOnly, reads, 0,
		argOp + "," + argActor + "," + argCursor + `,"timeout_ms":{"type":"integer","minimum":0,"maximum":25000,"default":25000},"until_end":{"type":"boolean","description":"stay over changes until the operation has ended, needs a person, or the time is over"}`, "", wait},
	{"get_operation", "Look up an operation", "What is known of an operation.", readOnly, reads, 0, argOp, "operation", operationByID},
	{"list_operations", "List operations", "Operations of an actor, a task, or a macro's children, newest first.", readOnly, reads, 0,
		argActor + "," + argTask + `,"parent":{"type":"string","pattern":"^[0-9a-f]{32}$"},"state":{"type":"string","maxLength":32},` + argCursor + `,"limit":{"type":"integer","minimum":1,"maximum":200}`, "", operations},
	{"explain", "Explain", "A dry run: what an action would do and what policy would say, rule by rule. Nothing is stored or sent, and no lease is needed.", readOnly, executes, 0,
		argAction + `,"capability":{"type":"string","maxLength":64},"arguments":{"type":"object"}`, "actor observation capability arguments", explain},
	{"confirm", "Confirm or refuse", "Answers the challenge of an operation that awaits confirmation; needs the scope confirm. Only on a person's decision.", effect, confirms, 0,
		argOp + `,"challenge":{"type":"string","minLength":1,"maxLength":256},"effect_digest":{"type":"string","pattern":"^[0-9a-f]{64}$","description":"of the effects that were looked at"},"approve":{"type":"boolean"}`,
		"operation challenge effect_digest approve", confirm},
	{"cancel", "Cancel", "Asks for the end of an operation and of its children. Nothing that was done is undone.", ending, cancels, 0, argOp + "," + argWhy, "operation", cancel},
	{"emergency_stop", "Emergency stop", "Stops an actor at once and keeps it stopped. Nothing that was done is undone.", ending, governs, 0, argActor + "," + argWhy, "actor why", stop},
	{"clear_stop", "Clear the stop", "Lifts an actor's emergency stop. A new lease and a new observation are needed afterwards.", control, governs, 0, argActor, "actor", clearStop},
	{"put_blueprint", "Store a blueprint", "Stores a .schem, .litematic or .nbt file for build_structure.", control, executes, 0,
		`"name":{"type":"string","minLength":1,"maxLength":64},"data_base64":{"type":"string","minLength":4,"maxLength":1400000}`, "name data_base64", putBlueprint},
	{"list_blueprints", "List blueprints", "The stored blueprints.", readOnly, reads, 0, "", "", blueprints},
}

// reading is the tool of a read capability.
func reading(c effects.Capability, about string) tool {
	props, required := arguments(c)
	return tool{c.String(), title(c), about, readOnly, reads, c, join(argActor, props), "actor " + required, readCapability}
}

// acting is the tool of an effect capability.
func acting(c effects.Capability, about string) tool {
	props, required := arguments(c)
	return tool{c.String(), title(c), about, effect, executes, c, join(argAction, props), "actor lease key observation " + required, act}
}

// arguments are the properties of a capability's schema, as members, and which of them are required.
func arguments(c effects.Capability) (props, required string) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(effects.Schema(c), &s) != nil {
		return "", ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(s.Properties), "{"), "}"), strings.Join(s.Required, " ")
}

func title(c effects.Capability) string {
	words := strings.ReplaceAll(c.String(), "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "," + b
}

// schema is the closed schema of the tool's arguments.
func (t *tool) schema() json.RawMessage {
	required, _ := json.Marshal(append([]string{}, strings.Fields(t.required)...)) // strings
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":%s,"additionalProperties":false}`, t.props, required))
}

func (t *tool) describe() *sdk.Tool {
	destructive, open := t.hints == effect || t.hints == ending, t.hints == effect
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, InputSchema: t.schema(),
		Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.hints == readOnly, IdempotentHint: true,
			DestructiveHint: &destructive, OpenWorldHint: &open},
	}
}
