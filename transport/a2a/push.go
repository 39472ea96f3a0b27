package a2a

import (
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// push is a push notification config. A task has at most one: the callback that came with the message that began it.
type push struct {
	ID             string          `json:"id"`
	TaskID         messages.RunID  `json:"taskId"`
	URL            string          `json:"url"`
	Token          string          `json:"token,omitempty"`
	Authentication json.RawMessage `json:"authentication,omitempty"`
}

// Form is the value of [messages.CallbackFormLabel] for runs whose client gets a [Notification].
const Form = "a2a"

// pushes handles the methods for push notification configs.
func (s server) pushes(ctx context.Context, method string, id messages.RunID) (any, error) {
	if s.door.Callback == nil {
		return nil, wrong(noPush, "this agent sends no push notifications")
	}
	run, err := s.door.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	configs := []push{}
	if url := run.Queued.Labels[messages.CallbackLabel]; url != "" {
		configs = append(configs, push{ID: "1", TaskID: id, URL: url})
	}
	switch method {
	case "ListTaskPushNotificationConfigs":
		return map[string]any{"configs": configs}, nil
	case "GetTaskPushNotificationConfig":
		if len(configs) > 0 {
			return configs[0], nil
		}
		return nil, wrong(notFound, "the task %s has no push notification config", id)
	}
	return nil, wrong(unsupported, "give the config with the message that begins the task; it lasts as long as the task")
}

// Notification returns the body of the message about a run's question or end.
func Notification(q *messages.RunQueued, e messages.Event) json.RawMessage {
	state, parts := "WORKING", failing(e.Body)
	switch b := e.Body.(type) {
	case messages.RunCompleted:
		state = "COMPLETED"
	case messages.RunFailed:
		state = "FAILED"
	case messages.RunCanceled:
		state = "CANCELED"
	case messages.InputRequired:
		state, parts = waiting(b), asking(b)
	}
	w := writer{id: e.RunID}
	w.run.Queued = *q
	return door.JSON(event{Status: &update{TaskID: w.id, ContextID: w.context(), Status: w.statusOf(e, state, parts)}})
}
