package host

import cmap "github.com/orcaman/concurrent-map"

// The registry of protoactor-go has 1,024 maps. With one shard per map instead of 32, every command saves 5 MB and 4
// ms. The number must be set before the first map exists.
func init() { cmap.SHARD_COUNT = 1 }
