package journal

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"blockworld/effects"
)

// The test binary runs itself as another process: BLOCKWORLD_JOURNAL_CHILD says as what.
const childVariable = "BLOCKWORLD_JOURNAL_CHILD"

func full() bool { return os.Getenv("BLOCKWORLD_FULL") == "1" }

func TestMain(m *testing.M) {
	switch job := os.Getenv(childVariable); {
	case job == "hold":
		holdChild(os.Getenv("DIR"))
	case strings.HasPrefix(job, "work"):
		workChild(os.Getenv("DIR"), job)
	case job == "fill":
		fillChild(os.Getenv("DIR"))
	default:
		flag.Parse()
		if !full() {
			flag.Set("rapid.checks", "25")
		}
		os.Exit(m.Run())
	}
}

func child(t testing.TB, job, dir string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+job, "DIR="+dir)
	c.Stderr = os.Stderr
	return c
}

// die kills this process as kill -9 would.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	panic(fmt.Sprint("still alive: ", err))
}

// workChild marks, settles, moves the cursor and rotates keys until it is killed, and says after each what is durable.
// Its job is "work POINT N": it kills itself at the Nth time it comes past the point; with N 0 somebody else does.
func workChild(dir, job string) {
	var point string
	var times int
	fmt.Sscanf(job, "work %s %d", &point, &times)
	opts := Options{At: func(p Point) {
		if string(p) == point {
			if times--; times == 0 {
				die()
			}
		}
	}}
	j, err := Open(dir, opts)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	// What was begun before is found, never sent again.
	missions, err := j.Missions()
	if err == nil && len(missions) == 0 {
		err = j.PutMission(mission(testMission))
	}
	steps, err2 := j.StepsOf(testMission)
	done, _ := j.Cursor(testMission)
	for n := uint32(len(steps)); errors.Join(err, err2) == nil; n++ {
		m := mark(n, n)
		if _, err = j.Mark(m); err != nil {
			break
		}
		fmt.Println("marked", n)
		if n%7 == 3 {
			continue // never settled
		}
		if err = j.Settle(outcome(m, effects.Proven)); err != nil {
			break
		}
		fmt.Println("settled", n)
		done.Count++
		if all, _ := read(j, func(t *txn) (uint32, error) { return t.doneSteps(testMission) }); all < done.Count {
			done.Count = all
		}
		if err = j.MoveCursor(testMission, done); err != nil {
			break
		}
		if n%10 == 9 {
			_, err = j.RotateKey()
		}
	}
	fmt.Println("error", err, err2)
	os.Exit(1)
}

func holdChild(dir string) {
	if _, err := Open(dir, Options{}); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("open")
	select {}
}

// TestKilled kills a working process at random points, again and again on the same directory: the journal always loads,
// what was said to be durable is there, and nothing is there twice.
func TestKilled(t *testing.T) {
	kills := 16
	if full() {
		kills = 200
	}
	rng := rand.New(rand.NewPCG(7, 7))
	dir := t.TempDir()
	points := []Point{BeforeMark, AfterMark, AfterReceipt, AfterCursor}
	marked, settled := map[uint32]bool{}, map[uint32]bool{}
	for k := range kills {
		t.Run(fmt.Sprintf("CP-91/kill %d", k), func(t *testing.T) {
			job, after := "work none 0", 1+rng.IntN(30)
			if k%2 == 0 {
				job, after = fmt.Sprintf("work %s %d", points[k/2%len(points)], 1+rng.IntN(9)), 1<<30
			}
			runAndKill(t, child(t, job, dir), after, marked, settled)
			if s, err := Check(dir); err != nil {
				t.Fatalf("%+v %v", s, err)
			}
			j, err := Open(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			got := receiptsOf(t, j)
			chain := map[effects.ActionID]bool{}
			for _, r := range got {
				if chain[r.Outcome.Action] {
					t.Error("two receipts for one action")
				}
				chain[r.Outcome.Action] = true
			}
			for n := range marked {
				if _, err := j.Action(actionID(n)); err != nil {
					t.Errorf("mark %d was durable and is gone: %v", n, err)
				}
				if sent, err := j.Mark(mark(n, n)); !errors.Is(err, ErrActionMarked) || sent != nil {
					t.Errorf("action %d got a second permit", n)
				}
			}
			for n := range settled {
				if !chain[actionID(n)] {
					t.Errorf("receipt %d was durable and is gone", n)
				}
			}
		})
	}
	if len(settled) == 0 {
		t.Error("nothing was ever settled")
	}
	t.Run("SE-28/everything again after all kills", func(t *testing.T) {
		j := openTest(t, dir)
		for n := range marked {
			mustSettle(t, j, outcome(mark(n, n), effects.Proven))
			mustSettle(t, j, outcome(mark(n, n), effects.Proven))
		}
		count := map[effects.ActionID]int{}
		for _, r := range receiptsOf(t, j) {
			count[r.Outcome.Action]++
		}
		for n := range marked {
			if count[actionID(n)] != 1 {
				t.Errorf("action %d has %d receipts", n, count[actionID(n)])
			}
		}
	})
}

// runAndKill reads the child's lines, kills it after so many, and takes in what it said until its end.
func runAndKill(t *testing.T, c *exec.Cmd, after int, marked, settled map[uint32]bool) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for seen := 1; lines.Scan(); seen++ {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseUint(rest, 10, 32)
		if err != nil {
			t.Fatal(lines.Text())
		}
		map[string]map[uint32]bool{"marked": marked, "settled": settled}[word][uint32(n)] = true
		if seen == after {
			c.Process.Kill()
		}
	}
	c.Wait()
}

func TestLocked(t *testing.T) {
	t.Run("CP-90/second open in one process", func(t *testing.T) {
		j := openTest(t, t.TempDir())
		if _, err := Open(j.Dir(), testOptions()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
			t.Error(err)
		}
	})
	t.Run("CP-90/held by another process, free after its kill", func(t *testing.T) {
		dir := t.TempDir()
		c := child(t, "hold", dir)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
			t.Fatal(line)
		}
		before, _ := os.ReadFile(filepath.Join(dir, FileName))
		_, err = Open(dir, testOptions())
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) {
			t.Error(err)
		}
		second := child(t, "hold", dir)
		if said, err := second.Output(); err == nil || !strings.Contains(string(said), "in use") {
			t.Error("a second process got in:", string(said), err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, FileName)); string(after) != string(before) {
			t.Error("the file changed")
		}
		c.Process.Kill()
		c.Wait()
		openTest(t, dir)
	})
}

// TestTogether: many goroutines mark at once; every permit is handed out once and the disk is waited for far less often
// than there are calls.
func TestTogether(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	before := j.Commits()
	const callers, each = 32, 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := map[effects.ActionID]int{}
	for c := range uint32(callers) {
		wg.Go(func() {
			for i := range uint32(each) {
				step := c/2*each + i // two callers want each step
				sent, err := j.Mark(mark(c*each+i, step))
				if err != nil && !errors.Is(err, ErrStepBarred) {
					t.Error(err)
				}
				mu.Lock()
				for _, s := range sent {
					won[s.Action()]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n := j.Commits() - before; n >= callers*each {
		t.Errorf("%d commits for %d calls", n, callers*each)
	} else {
		t.Logf("%d commits for %d calls", n, callers*each)
	}
	if len(won) != callers*each/2 {
		t.Error(len(won), "permits")
	}
	for id, n := range won {
		if n != 1 {
			t.Error(id, n)
		}
	}
}
