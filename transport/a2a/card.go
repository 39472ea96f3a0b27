package a2a

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// origin is where the client reaches the server.
func (s server) origin(r *http.Request) string {
	if s.door.Secure || r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// card answers with the agent's card.
func (s server) card(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private, max-age=60")
	_, _ = w.Write(s.describe(r, auth.Require(r.Context(), auth.ReadRuns) == nil)) // the client may have left
	return nil
}

// cardForm is the card, without its version, its URL, how to be known, and its skills.
const cardForm = `{"name":"lastword","version":%s,"description":"Runs long jobs. A message is a turn of chat. Another skill is ` +
	`named by metadata.skill, and its input is a part of data. metadata.request names the question that a message answers.",` +
	`"supportedInterfaces":[{"url":%s,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
	`"capabilities":{"streaming":true,"pushNotifications":false,"extendedAgentCard":true},` +
	`"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],%s"skills":%s}`

const tokenForm = `"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},` +
	`"securityRequirements":[{"schemes":{"bearer":{"list":[]}}}],`

// skill is a job on the card.
type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	InputModes  []string `json:"inputModes"`
}

// describe is the card: all of it, or for callers that are not known what needs no skill.
func (s server) describe(r *http.Request, all bool) json.RawMessage {
	skills, known := []skill{}, ""
	for _, job := range s.door.Jobs {
		modes := []string{"text/plain", "application/json"}
		if job.Text == "" {
			modes = modes[1:]
		}
		if all || job.Name == s.door.Message("", "c").Job {
			skills = append(skills, skill{job.Name, cmp.Or(job.Title, job.Name), job.Description, []string{"job"}, modes})
		}
	}
	if auth.From(r.Context()).Name != "" {
		known = tokenForm
	}
	return fmt.Appendf(nil, cardForm, door.JSON(s.door.Version), door.JSON(s.origin(r)+Path), known, door.JSON(skills))
}
