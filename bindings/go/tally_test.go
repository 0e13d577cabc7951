package tally

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Without C's exit handlers: `tally stat` shows the regions of such programs, too.
func TestMain(m *testing.M) { os.Exit(m.Run()) }

var sum int

func rounds(count int) {
	for i := 0; i < count; i++ {
		sum += i
	}
}

func TestCountsAreAbsentOrProportional(t *testing.T) {
	counters, err := Open("instructions")
	if err != nil {
		t.Fatal(err)
	}
	defer counters.Close()
	count := func(number int) Count { return counters.Count(func() { rounds(number) })[0] }
	count(1)
	few, many, more := count(100000), count(200000), count(300000)
	if few.Event != "instructions:u" || few.Unit != "events" {
		t.Errorf("%+v", few)
	}
	if few.IsAbsent() {
		if few.Reason == "" {
			t.Error("no reason")
		}
		t.Skip(few.Reason)
	}
	if distance := more.Value - 2*many.Value + few.Value; distance > few.Value/50 || distance < -few.Value/50 {
		t.Errorf("%d %d %d", few.Value, many.Value, more.Value)
	}
}

func TestRegionsAreCountedByName(t *testing.T) {
	for i := 0; i < 3; i++ {
		func() {
			defer Region("rounds")()
			rounds(1000)
		}()
	}
	count, err := CountRegion("rounds", "instructions")
	if err != nil {
		t.Fatal(err)
	}
	if count.Total.IsAbsent() {
		t.Skip(count.Total.Reason)
	}
	if count.Entries != 3 || count.Least > count.Most || count.Total.Value < 3000 {
		t.Errorf("%+v", count)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	_, err := Open("instructionz")
	var known *Error
	if !errors.As(err, &known) || !strings.Contains(known.Message, "instructionz") || known.Hint == "" {
		t.Error(err)
	}
	if count, err := CountRegion("never entered", "instructions"); err == nil && !count.Total.IsAbsent() {
		t.Errorf("%+v", count)
	}
}
