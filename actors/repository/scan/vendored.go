package scan

import (
	"path"
	"slices"
	"strings"
)

func isVCS(name string) bool {
	return name == ".git" || name == ".hg" || name == ".svn" || name == ".jj" || name == ".bzr"
}

// isVendored knows the folders that tools fill: with the code of others, or with what they have built.
func isVendored(name string) bool {
	switch strings.ToLower(name) {
	case "vendor", "_vendor", "vendored", "_vendored", "node_modules", "third_party", "third-party", "thirdparty",
		"3rdparty", "3rd_party", "3rd-party", "bower_components", "jspm_packages", "elm-stuff", "pods", "carthage",
		".venv", "venv", "site-packages", "dist-packages", "__pypackages__", "__pycache__", ".tox", ".nox", ".eggs",
		".yarn", ".pnpm-store", ".pnpm", ".gradle", ".bundle", ".dart_tool", ".terraform", ".next", ".nuxt",
		".svelte-kit", ".parcel-cache", ".turbo", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache",
		".stack-work", ".build":
		return true
	}
	return strings.HasSuffix(name, ".egg-info") || strings.HasSuffix(name, ".dist-info") ||
		strings.HasSuffix(name, ".xcassets")
}

// isForeign tells a folder by what it holds: the marks that tools leave in environments, caches and installed
// packages, and a licence of its own where the folder above is one for the code of others.
func isForeign(at string, entries []entry) bool {
	for _, mark := range []string{"pyvenv.cfg", "CACHEDIR.TAG", ".bower.json", ".package-lock.json",
		".yarn-integrity"} {
		if has(entries, mark) {
			return true
		}
	}
	return isForOthers(path.Base(path.Dir(at))) && slices.ContainsFunc(entries, func(e entry) bool {
		return e.mode.IsRegular() && isLicence(e.name)
	})
}

func isForOthers(folder string) bool {
	return slices.Contains([]string{"ext", "extern", "external", "externals", "deps", "subprojects",
		"submodules"}, strings.ToLower(folder))
}

func isLicence(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem, _, _ = strings.Cut(stem, "-")
	return stem == "LICENSE" || stem == "LICENCE" || stem == "COPYING" || stem == "UNLICENSE"
}

// isBinaryName saves opening what is never text.
func isBinaryName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".icns", ".bmp", ".tiff", ".avif", ".heic", ".psd", ".xcf",
		".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".jar", ".war", ".ear", ".whl",
		".egg", ".gem", ".nupkg", ".crate", ".deb", ".rpm", ".apk", ".dmg", ".iso", ".pdf", ".doc", ".docx",
		".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".mp4",
		".mov", ".avi", ".webm", ".wav", ".ogg", ".flac", ".exe", ".dll", ".so", ".dylib", ".a", ".o", ".obj",
		".lib", ".syso", ".class", ".pyc", ".pyd", ".wasm", ".bin", ".db", ".sqlite", ".sqlite3", ".parquet",
		".npy", ".npz", ".h5", ".onnx", ".pt", ".pth", ".gguf", ".safetensors", ".pickle", ".pkl":
		return true
	}
	return false
}
