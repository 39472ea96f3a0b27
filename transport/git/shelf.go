package git

import queue "container/list"

// liveBytes bounds the objects of a pack that are in memory because they, or what is made of them, came as deltas.
const liveBytes = 128 << 20

// shelf keeps unpacked objects by their offsets. The one that was not asked for the longest makes room first.
type shelf struct {
	at    map[int64]*queue.Element
	order queue.List // of shelved, the one asked for last in front
	bytes int64
	peak  int64 // most bytes ever, with those that room was made for
}

type shelved struct {
	offset int64
	data   []byte
}

// What an object costs besides its bytes, roughly.
const shelvedCost = 128

func (s *shelf) get(offset int64) ([]byte, bool) {
	e := s.at[offset]
	if e == nil {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(shelved).data, true
}

// room lets go of objects until so many more bytes may live.
func (s *shelf) room(bytes int64) {
	for s.bytes+bytes > liveBytes && s.order.Len() > 0 {
		oldest := s.order.Remove(s.order.Back()).(shelved)
		delete(s.at, oldest.offset)
		s.bytes -= int64(len(oldest.data)) + shelvedCost
	}
	s.peak = max(s.peak, s.bytes+bytes)
}

func (s *shelf) put(offset int64, data []byte) {
	size := int64(len(data)) + shelvedCost
	if s.at[offset] != nil || size > liveBytes {
		return
	}
	s.room(size)
	if s.at == nil {
		s.at = map[int64]*queue.Element{}
	}
	s.at[offset] = s.order.PushFront(shelved{offset, data})
	s.bytes += size
}
