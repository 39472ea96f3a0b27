package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The instructions of the stages, which follow the conversation.
const (
	askIntent = "Do not answer the user yet. Say what the user wants: the intent, whether the tools below must be used " +
		"to answer, and what to look for with them."
	askFindings = "Do not answer the user yet. Use the tools to find what the answer needs. When you have found it, or cannot " +
		"find more, write one JSON object and nothing else: " +
		`{"findings": "what you found, briefly", "complete": true or false}`
	askText  = "Answer the user now, with what was found above."
	askReply = askText + " The response is what the user reads. The citations are the names of the sources that it rests on. " +
		"The confidence is high, medium or low."
)

// intent is the result of the stage understand.
type intent struct {
	Intent      string `json:"intent" jsonschema:"question, chat, task or factual_query"`
	NeedsSearch bool   `json:"needs_search" jsonschema:"whether the tools must be used to answer"`
	SearchQuery string `json:"search_query" jsonschema:"what to look for, a few words, or nothing"`
}

func (i *intent) Problems() []string {
	return oneOf("intent", i.Intent, "question", "chat", "task", "factual_query")
}

// hint tells the stage think the result of understand.
func (i *intent) hint() string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("\nThe intent: %s. What to look for: %s", i.Intent, cmp.Or(i.SearchQuery, "not said"))
}

// findings is the result of the stage think.
type findings struct {
	Findings string `json:"findings" jsonschema:"what was found, briefly"`
	Complete bool   `json:"complete" jsonschema:"whether that is all that the answer needs"`
}

func (f findings) words() string {
	if f.Complete {
		return f.Findings
	}
	return f.Findings + "\n(That is not all that the answer needs.)"
}

// reply is the structured answer. Response is the first member, so that nothing delays its first word.
type reply struct {
	Response   string   `json:"response" jsonschema:"the answer to the user, Markdown"`
	Citations  []string `json:"citations" jsonschema:"names of sources"`
	Confidence string   `json:"confidence" jsonschema:"high, medium or low"`
}

func (r *reply) Problems() []string {
	if strings.TrimSpace(r.Response) == "" {
		return []string{"response: it is empty"}
	}
	return oneOf("confidence", r.Confidence, "high", "medium", "low")
}

func oneOf(field, value string, words ...string) []string {
	if slices.Contains(words, value) {
		return nil
	}
	return []string{fmt.Sprintf("%s: it must be one of %s", field, strings.Join(words, ", "))}
}
