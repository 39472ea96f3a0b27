package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// What operators are told holds no secret, in whatever field.
func TestLogTellsNoSecret(t *testing.T) {
	const apiKey, gardenToken = "sk-sesame-Sesame-0123", "t0ken-of-the-gardener"
	var stderr bytes.Buffer
	known := settings.Secrets([]string{"LASTWORD_API_KEY=" + apiKey, settings.GitTokens + "=git.example.com=" + gardenToken}, nil)
	log := (&Flags{verbose: true}).logger(known.Writer(&stderr))
	log.With(zap.String("with", apiKey)).Error("no "+gardenToken, zap.Error(fmt.Errorf("bad %s", apiKey)),
		zap.ByteString("body", []byte(`{"key":"`+apiKey+`"}`)), zap.Any("any", map[string]string{"a": gardenToken}))
	if strings.Count(stderr.String(), "[key]") != 3 || strings.Count(stderr.String(), "[token]") != 2 {
		t.Error(stderr.String())
	}
	if strings.Contains(stderr.String(), apiKey) || strings.Contains(stderr.String(), gardenToken) {
		t.Error(stderr.String())
	}
}
