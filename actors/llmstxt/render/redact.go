package render

import (
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// redactor replaces what has the shape of a secret. It keeps the expressions
// it needed, for compiling them costs more than most files.
type redactor struct {
	shapes []shape
}

// shape is searched for by its words first: they are rare, and an expression
// is slow.
type shape struct {
	words   []string
	pattern string
	re      *regexp.Regexp
}

func newRedactor() *redactor {
	return &redactor{shapes: []shape{
		{words: []string{"PRIVATE KEY"}, pattern: `-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----`},
		// a key that is cut off
		{words: []string{"PRIVATE KEY"}, pattern: `-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----([\s"'+\\nr]*[A-Za-z0-9+/=]{16,})+`},
		{words: []string{"AKIA", "ASIA"}, pattern: `\b(AKIA|ASIA)[A-Z0-9]{16}\b`},
		{words: []string{"aws", "AWS"}, pattern: `(?i)(aws_?secret_?access_?key["']?\s*[:=]\s*["']?)[A-Za-z0-9/+]{40}`},
		{words: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: `\bgh[pousr]_[A-Za-z0-9]{36,}`},
		{words: []string{"github_pat_"}, pattern: `\bgithub_pat_[A-Za-z0-9_]{22,}`},
		{words: []string{"glpat-"}, pattern: `\bglpat-[A-Za-z0-9_-]{20,}`},
		{words: []string{"xox"}, pattern: `\bxox[abeoprs]-[A-Za-z0-9-]{10,}`},
		{words: []string{"hooks.slack.com"}, pattern: `hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`},
		{words: []string{"sk-"}, pattern: `\bsk-[A-Za-z0-9_-]{20,}`},
		{words: []string{"sk_live_", "rk_live_"}, pattern: `\b[sr]k_live_[A-Za-z0-9]{16,}`},
		{words: []string{"AIza"}, pattern: `\bAIza[A-Za-z0-9_-]{35}`},
		{words: []string{"npm_"}, pattern: `\bnpm_[A-Za-z0-9]{36}`},
	}}
}

func (r *redactor) redact(text string) string {
	for i := range r.shapes {
		text = r.shapes[i].redact(text)
	}
	return text
}

func (s *shape) redact(text string) string {
	for _, word := range s.words {
		if !strings.Contains(text, word) {
			continue
		}
		if s.re == nil {
			s.re = regexp.MustCompile(s.pattern)
		}
		return s.re.ReplaceAllStringFunc(text, func(found string) string { return s.keep(found) + redacted })
	}
	return text
}

// keep gives the part of a match that is no secret: the name of a setting.
func (s *shape) keep(found string) string {
	if m := s.re.FindStringSubmatch(found); strings.HasPrefix(s.pattern, "(?i)(") && len(m) > 1 {
		return m[1]
	}
	return ""
}
