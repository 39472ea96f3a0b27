package decode_test

import (
	"encoding/json"
)

func raw(s string) json.RawMessage { return json.RawMessage(s) }
