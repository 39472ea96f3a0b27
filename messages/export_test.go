package messages

// The rules for tests.
const (
	RuleSpan     = ruleSpan
	RuleOpening  = ruleOpening
	RuleCancel   = ruleCancel
	RuleTask     = ruleTask
	RuleStream   = ruleStream
	RuleLog      = ruleLog
	RuleMerged   = ruleMerged
	RuleCall     = ruleCall
	RuleInput    = ruleInput
	RuleMessage  = ruleMessage
	RuleChild    = ruleChild
	RuleStep     = ruleStep
	RuleTerminal = ruleTerminal
	RuleRewind   = ruleRewind
)
