package policy

// Engine is a compiled config. It is immutable and safe for concurrent use. The zero Engine denies everything.
type Engine struct {
	revision string
	profile  Profile
	compiled bool
}

// Compile checks a config and builds its engine; errors wrap ErrConfig and name the rule and the field.
func Compile(c Config) (*Engine, error) {
	return &Engine{}, nil
}

// Revision stands for the whole config: equal configs have equal revisions, whatever the order of their lists.
func (e *Engine) Revision() string { return e.revision }

// Profile returns the profile in force.
func (e *Engine) Profile() Profile { return e.profile }

// Decide answers for one action. It stores nothing; an Allow must be stored together with its Reservations.
func (e *Engine) Decide(f *Facts, u Usage) Decision { return Decision{} }

// Explain is the dry run: everything that Decide asks, whether it matched and why. It stops nowhere.
func (e *Engine) Explain(f *Facts, u Usage) []Line { return nil }
