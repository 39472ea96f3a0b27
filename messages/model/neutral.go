package model

import (
	"slices"
	"strings"
)

// Neutral breaks the special tokens of chat templates, such as <|im_end|>, with a space after the first bracket.
// Servers obey such tokens anywhere in a text, so untrusted text could end its turn and speak for the system. Neutral
// only adds spaces, and it adds none to its own result.
func Neutral(text string) string {
	var b strings.Builder
	done, line := 0, 0 // number of bytes written, and where the line begins
	for i := range len(text) {
		cut := i + 1
		switch c := text[i]; {
		case c == '\n':
			line = i + 1
			continue
		case c == ':' && slices.Contains(roleLines, strings.TrimLeft(text[max(line, i-maxName):i], " \t")):
			cut = i
		case c == dsml[0] && strings.HasPrefix(text[i:], dsml):
			cut = i + len("｜")
		case c == '<' && angled(text[i+1:]), c == '[' && squared(text[i+1:]), c == ']' && tilde(text[i+1:]),
			c == '>' && arrowed(text[i+1:]):
		default:
			continue
		}
		b.WriteString(text[done:cut])
		b.WriteByte(' ')
		done = cut
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// dsml is a token of DeepSeek without brackets.
const dsml = "｜DSML｜"

// maxName bounds the name of a token, in bytes.
const maxName = 80

// angled recognizes the rest of <|im_start|>, <｜User｜>, <channel|>, <start_of_turn>, </s>, and <SYS>> after "<".
func angled(rest string) bool {
	name, ok := named(rest, '>')
	switch {
	case !ok:
		return false
	case hasBar(name, strings.HasPrefix):
		return true
	case beginsWithAny(strings.TrimPrefix(name, "/"), callPrefixes):
		return true
	case strings.ContainsAny(name, " \t"):
		return false
	case hasBar(name, strings.HasSuffix), strings.Contains(name, "▁"), strings.Contains(name, "_"):
		return true
	}
	name = strings.ToLower(strings.TrimPrefix(name, "/"))
	return slices.Contains(tokenNames, name) || beginsWithAny(name, tokenPrefixes)
}

func beginsWithAny(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// squared recognizes the rest of [INST], [/INST], [AVAILABLE_TOOLS], [gMASK], [|user|] and [e~[ after "[".
func squared(rest string) bool {
	name, ok := named(rest, ']')
	switch {
	case strings.HasPrefix(rest, "e~["), ok && strings.HasPrefix(name, "Round "):
		return true
	case !ok || strings.ContainsAny(name, " \t"):
		return false
	case hasBar(name, strings.HasPrefix), hasBar(name, strings.HasSuffix):
		return true
	}
	name = strings.TrimPrefix(name, "/")
	return strings.Contains(name, "_") && name == strings.ToUpper(name) || strings.HasPrefix(name, "control_") ||
		slices.Contains(squareNames, name)
}

// tilde recognizes the rest of ]~b], ]~!b[ and ]<]image[>[, which are MiniMax's.
func tilde(rest string) bool {
	if strings.HasPrefix(rest, "<]") {
		return true
	}
	end := strings.IndexAny(rest[:min(len(rest), 8)], "[]")
	return end > 0 && strings.IndexByte("~!", rest[0]) >= 0 && strings.Contains(rest[:end], "~")
}

// arrowed recognizes the rest of >>QUESTION<<, which is Falcon's.
func arrowed(rest string) bool {
	if !strings.HasPrefix(rest, ">") {
		return false
	}
	rest = rest[1:min(len(rest), maxName)]
	after := strings.TrimLeft(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")
	return len(after) < len(rest) && strings.HasPrefix(after, "<<")
}

// named returns the text before the closing bracket.
func named(rest string, closer byte) (string, bool) {
	rest = rest[:min(len(rest), maxName)]
	end := strings.IndexByte(rest, closer)
	if end < 1 || strings.ContainsAny(rest[:end], "<[\n") || rest[0] == ' ' {
		return "", false
	}
	return rest[:end], true
}

// hasBar reports whether at finds one of the bars that models use, at the beginning or the end of the name.
func hasBar(name string, at func(s, part string) bool) bool {
	return at(strings.TrimPrefix(name, "/"), "|") || at(strings.TrimPrefix(name, "/"), "｜")
}

var (
	tokenNames = []string{"s", "bos", "eos", "pad", "unk", "cls", "sep", "mask", "gmask", "smask", "sop", "eop",
		"eod", "eoh", "eoa", "eot", "eom", "bot", "boi", "eoi", "boa", "bov", "img", "pre", "suf", "mid", "fim",
		"inst", "sys", "system", "user", "assistant", "human", "model", "role", "turn", "channel", "message", "tool",
		"tools", "function", "observation", "think", "thinking", "thought", "reasoning", "args", "prefix", "middle",
		"suffix", "toolcall", "toolcalls", "toolresponse", "escape", "endoftext", "startoftext", "endofprompt"}
	tokenPrefixes = []string{"unused", "extra", "reserved", "ctrl", "special", "image", "audio", "video", "vision",
		"jupyter", "mask:", "0x"}
	// callPrefixes begin tool calls in the syntax of some models; spaces may follow.
	callPrefixes = []string{"seed:", "minimax:", "mm:", "antml:", "steptml:", "function=", "parameter=",
		"invoke name=", "parameter name="}
	// squareNames are case-sensitive: web frameworks have folders like [user].
	squareNames = []string{"INST", "SYS", "THINK", "IMG", "ARGS", "PREFIX", "MIDDLE", "SUFFIX", "AUDIO", "TRANSCRIBE",
		"CLS", "SEP", "MASK", "PAD", "UNK", "BOS", "EOS", "EOT", "EOD", "USER", "BOT", "SYSTEM", "ASSISTANT", "gMASK",
		"sMASK"}
	// roleLines begin turns in chat templates of plain text.
	roleLines = []string{"### Instruction", "### Input", "### Response", "### Human", "### User", "### Assistant",
		"### System", "USER", "ASSISTANT", "SYSTEM", "Human", "User", "Assistant", "System", "GPT4 Correct User",
		"GPT4 Correct Assistant"}
)
