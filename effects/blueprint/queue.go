package blueprint

import (
	"container/heap"

	"blockworld/worldstate/geom"
)

// queue holds job numbers, the lowest first.
type queue []int32

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(v any)        { *q = append(*q, v.(int32)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q *queue) push(i int32) { heap.Push(q, i) }
func (q *queue) pop() int32   { return heap.Pop(q).(int32) }

// buckets holds job numbers by place, so that what is near to a place is found without looking at all.
type buckets map[geom.BlockPos][]int32

// bucketBits is the size of a bucket: cubes of eight cells.
const bucketBits = 3

func bucketOf(p geom.BlockPos) geom.BlockPos {
	return geom.BlockPos{X: p.X >> bucketBits, Y: p.Y >> bucketBits, Z: p.Z >> bucketBits}
}

func (b buckets) add(p geom.BlockPos, i int32) {
	at := bucketOf(p)
	b[at] = append(b[at], i)
}

// each calls fn for every job in the buckets that a box touches.
func (b buckets) each(box geom.BlockBox, fn func(int32)) {
	lo, hi := bucketOf(box.Min), bucketOf(box.Max)
	for y := lo.Y; y <= hi.Y; y++ {
		for z := lo.Z; z <= hi.Z; z++ {
			for x := lo.X; x <= hi.X; x++ {
				for _, i := range b[geom.BlockPos{X: x, Y: y, Z: z}] {
					fn(i)
				}
			}
		}
	}
}
