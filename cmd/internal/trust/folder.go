package trust

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
)

// ErrNowhere means that nobody has named a folder, and that the user's home has no place for one.
var ErrNowhere = errors.New("there is no folder for approvals and keys; give --trust FOLDER, or set " + settings.Trust)

// Folder is the path of a user's folder of trust.
type Folder string

// Find returns the folder that the environment names, where --trust is too, or the one in the user's home. It makes none.
// It refuses a folder that others may write, and one of the project that is the current folder.
func Find(env environment.Variables) (Folder, error) {
	dir := cmp.Or(env.Get(settings.Trust), env.TrustFolder())
	if dir == "" {
		return "", ErrNowhere
	}
	dir = resolved(dir)
	if OfProject(dir, env) {
		return "", fmt.Errorf("the folder of trust %s is in the project of the current folder, whose files may be a stranger's; "+
			"give another one with --trust or %s", dir, settings.Trust)
	}
	err := private(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // Open says why it cannot be made
		err = nil
	}
	return Folder(dir), err
}

// Open is Find, and makes a missing folder.
func Open(env environment.Variables) (Folder, error) {
	f, err := Find(env)
	if err != nil {
		return "", err
	}
	err = os.MkdirAll(string(f), 0o700)
	if err == nil {
		err = private(string(f))
	} else if env.Get(settings.Trust) == "" {
		err = fmt.Errorf("%w: %w", ErrNowhere, err)
	}
	return f, err
}

// private returns an error if others may write the folder.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 { // Windows' modes do not tell
		err = messages.InvalidInput("others may write the folder of trust %s; run chmod go-w on it, or give another one with --trust", dir)
	}
	return cmp.Or(err, confined.Private(dir))
}

// resolved returns the absolute path without symbolic links. The end of the path may be missing.
func resolved(path string) string {
	path = settings.Absolute(path)
	if real, err := filepath.EvalSymlinks(path); err == nil || path == filepath.Dir(path) {
		return cmp.Or(real, path)
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// OfProject reports whether the path is in the current folder or its work tree. A folder that holds the user's home is
// no project.
func OfProject(path string, env environment.Variables) bool {
	for _, top := range []string{settings.Real("."), settings.RepositoryOf(".")} {
		root := top == filepath.Dir(top)
		home := env.Home() != "" && settings.Inside(resolved(env.Home()), top)
		if !root && !home && settings.Inside(resolved(path), top) {
			return true
		}
	}
	return false
}

// Apart returns an error if the folder is in one that a server writes or a backup copies. It is ErrNowhere for the
// folder in the user's home.
func (f Folder) Apart(env environment.Variables, data ...string) error {
	for _, dir := range data {
		if dir == "" || !settings.Inside(string(f), resolved(dir)) {
			continue
		}
		err := fmt.Errorf("the folder of trust %s is in %s, which holds data; give another one with --trust or %s", f, dir, settings.Trust)
		if env.Get(settings.Trust) == "" {
			err = fmt.Errorf("%w: %w", ErrNowhere, err)
		}
		return err
	}
	return nil
}

// Approvals returns the list of tools that the user has permanently allowed.
func (f Folder) Approvals() *tool.Approvals {
	return tool.OpenApprovals(filepath.Join(string(f), "approvals.jsonl"))
}

// Wrapped returns the list of tools of wrapped servers as the user has seen them.
func (f Folder) Wrapped() *tool.Approvals {
	return tool.OpenApprovals(filepath.Join(string(f), "wrapped.jsonl"))
}

// Agents returns the list of what the user has permanently allowed coding agents.
func (f Folder) Agents() *tool.Approvals {
	return tool.OpenApprovals(filepath.Join(string(f), "agents.jsonl"))
}

// Helper returns the folder in which the helper with the name starts: its own, of the user alone, and empty until the
// helper writes there.
func (f Folder) Helper(name string) (string, error) {
	dir := filepath.Join(string(f), "helpers", messages.Digest(name)[:16])
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = private(dir)
	}
	return dir, err
}

// Login returns the file for the tokens of a server at the URL. Nothing else is in its folder.
func (f Folder) Login(url string) string {
	return filepath.Join(string(f), "logins", messages.Digest(url)[:16]+".json")
}

// Key returns the key that signs, and makes the first one. If publish is not nil, it makes another one, which signs
// once publish has returned no error for its public half.
func (f Folder) Key(publish func(ed25519.PublicKey) error) (ed25519.PrivateKey, error) {
	var other func(seed []byte) error
	if publish != nil {
		other = func(seed []byte) error {
			return cmp.Or(f.retire(), publish(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)))
		}
	}
	seed, err := f.secret(signingKey, other)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// signingKey is the file with the key that signs, and publicKeys the one with the public halves of those before it.
const (
	signingKey = "signing-key"
	publicKeys = "public-keys"
)

// Public returns the public halves of the keys that the folder has had, in base64. It makes none.
func (f Folder) Public() (keys []string, err error) {
	for _, name := range []string{signingKey, publicKeys} {
		text, err := regular.Read(filepath.Join(string(f), name), regular.Small)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for key := range strings.FieldsSeq(string(text)) {
			if seed, err := base64.StdEncoding.DecodeString(key); name == signingKey && err == nil && len(seed) == ed25519.SeedSize {
				key = base64.StdEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
			} else if name == signingKey {
				continue
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// retire keeps the public half of the key that another one is about to replace.
func (f Folder) retire() error {
	keys, err := f.Public()
	if err == nil && len(keys) > 0 {
		err = confined.WriteDurable(string(f), publicKeys, 0o600, strings.Join(keys, "\n")+"\n")
	}
	return err
}

// Sealing returns the secret from which the keys come that seal what clients keep, and makes it if it is missing.
func (f Folder) Sealing() ([]byte, error) { return f.secret("sealing-key", nil) }

// secret returns the secret in a file of the folder, as base64, and makes the first one. If other is not nil, it makes
// another one, which counts once other has returned no error for it.
func (f Folder) secret(name string, other func(secret []byte) error) (secret []byte, err error) {
	err = atomicfile.Change(filepath.Join(string(f), name), os.O_RDWR|os.O_CREATE, func(_ *os.Root, file *os.File) error {
		text, err := io.ReadAll(io.LimitReader(file, 1<<10))
		if err != nil {
			return err
		}
		if len(text) > 0 && other == nil {
			secret, err = base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
			if err != nil || len(secret) != ed25519.SeedSize {
				err = fmt.Errorf("%s in %s holds no key; remove it, and the next start makes another", name, f)
			}
			return err
		}
		secret = make([]byte, ed25519.SeedSize)
		_, _ = rand.Read(secret) // it never fails
		if other != nil {
			err = other(secret)
		}
		if err == nil {
			err = confined.WriteDurable(string(f), name, 0o600, base64.StdEncoding.EncodeToString(secret)+"\n")
		}
		return err
	})
	return secret, err
}
