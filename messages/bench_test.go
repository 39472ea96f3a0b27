package messages_test

import (
	"github.com/seed889630bf/lastword/messages"
)

func tokens(n int) []messages.Event {
	log := logOf(messages.RunQueued{Job: "prompt"}, messages.RunStarted{})
	const token = "token "
	for i := range n {
		log = append(log, next(uint64(i+2), messages.TextDelta{Stream: "answer", Index: uint64(i), Offset: i * len(token), Text: token}))
	}
	return log
}
