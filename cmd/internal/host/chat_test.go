package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/chat/conversation"
)

// Each caller has conversations of its own, in memory and in a folder.
func TestConversationsOfCallers(t *testing.T) {
	kept := &Options{program: new(Program)}
	dir, cmd := t.TempDir(), &cobra.Command{}
	kept.Store.AddState(cmd, cmd.Flags())
	must(t, cmd.Flags().Set("state", dir))
	for form, h := range map[string]*Options{"memory": {program: new(Program)}, "folder": kept} {
		for _, who := range []string{"", "mia", "Mia"} {
			store, err := h.talks.of(h, homeOf(who))
			must(t, err)
			if _, err := store.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: who}); err != nil {
				t.Fatal(err)
			}
			if list, err := store.List(); err != nil || len(list) != 1 || list[0].Turns != 1 {
				t.Errorf("%s: %q has %+v: %v", form, who, list, err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ConversationFolder, "mia", "c_1.jsonl")); err != nil {
		t.Error(err)
	}
}
