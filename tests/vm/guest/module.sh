# SPDX-License-Identifier: GPL-2.0
# The module by hand, with nothing but a shell: load, every knob and file, a
# sweep, refusals, stopping, unloading. Any kernel.
# shellcheck shell=sh disable=SC2034,SC2154

check "loads" insmod $KO
check "loads once" sh -c "! insmod $KO 2>/dev/null"

for f in available_methods available_contexts status results histograms info; do
	check "$f is 0400 and reads" sh -c "[ \$(stat -c %a $D/$f) = 400 ] && cat $D/$f"
done
for f in orders methods batches contexts samples warmup seed extent_rounds until until_s cpu nid \
	load cache drain after victim_kib victim_cpu verify latency force_preempt unsafe test_delay_ns run; do
	check "$f is 0600 and reads" sh -c "[ \$(stat -c %a $D/$f) = 600 ] && [ -n \"\$(cat $D/$f)\" ]"
done
check "status is idle" [ "$(cat $D/status)" = idle ]
check "the defaults are those of the contract" [ "$(cd $D && cat methods batches contexts samples \
	warmup seed extent_rounds cpu nid load cache drain after victim_kib victim_cpu verify latency force_preempt unsafe | tr '\n' ' ')" = \
	"legacy,batched full process,softirq,spinlock 100 5 1 10 any any 0 cold 0 none 256 same 1 0 0 0 " ]
max=$(sed -n 's/^max_page_order: //p' $D/info)
check "orders reach MAX_PAGE_ORDER" [ "$(cat $D/orders)" = "0-$max" ]
top=$(sed -n "s/^max_order: //p" $D/info)
check "info knows the kernel" grep -q "^kernel: $(uname -r) " $D/info
check "info measured the clock in each context" \
	[ "$(awk '/^clock_ns_/ && $2 > 0' $D/info | wc -l)" = "$(grep -vc '^#' $D/available_contexts)" ]
if grep -qw hypervisor /proc/cpuinfo; then
	check "a guest is marked, whatever its hypervisor calls itself" \
		grep -qE '^marks: (.* )?(guest|emulated)' $D/info
fi
check "available_methods says of which release a copy is" \
	sh -c "grep -q '^upstream.*7\.2.*copy' $D/available_methods && grep -q '^legacy.*6\.1 to 7\.1' $D/available_methods"

# Knobs: what is legal, what is refused and how
INVAL="Invalid argument"
RANGE="Numerical result out of range"
DOM="argument out of domain"
for good in "orders 0-3,9" "orders $max" "methods mov" "batches 1,3,full,auto" "samples 10000000" \
	"warmup 0" "seed 18446744073709551615" "extent_rounds 1000" "cpu 0" "cpu any" "nid 0" \
	"nid any" "cache warm" "cache fresh" "cache cold" "drain 1" "drain 0" "verify 0" "verify 1" \
	"until 0.25" "until 100.00" "until 0.00" "until_s 86400" "until_s 60" "load 0" "unsafe 1" "unsafe 0" \
	"after touch" "after victim" "after none" "victim_kib 4" "victim_kib 32768" "victim_kib 256" \
	"victim_cpu 0" "victim_cpu same" "contexts spinlock,process"; do
	# shellcheck disable=SC2086
	check "takes $good" accepted $good
done
check "until has two decimals" accepted until 0.5 0.50
check "until is off again" accepted until 0 0.00
check "a list may have blanks" accepted methods "legacy, batched" legacy,batched
while read -r knob value error; do
	case $error in
	EINVAL) error=$INVAL ;;
	ERANGE) error=$RANGE ;;
	EDOM) error=$DOM ;;
	esac
	check "refuses $knob $value" refused "$knob" "$value" "$error"
done <<-LIST
	orders $((top + 1)) ERANGE
	orders 4294967296 ERANGE
	orders x EINVAL
	orders 3-1 EINVAL
	orders , EINVAL
	methods foo EINVAL
	methods legacy,foo EINVAL
	methods legacy,legacy EINVAL
	methods legacy,, EINVAL
	methods LEGACY EINVAL
	batches 0 ERANGE
	batches -1 ERANGE
	batches 99999999999999999999 ERANGE
	batches 1.5 EINVAL
	batches all EINVAL
	contexts nmi EINVAL
	contexts process,process EINVAL
	samples 0 ERANGE
	samples 10000001 ERANGE
	samples -1 ERANGE
	samples 99999999999999999999 ERANGE
	samples 1e3 EINVAL
	samples ten EINVAL
	warmup 100001 ERANGE
	extent_rounds 0 ERANGE
	extent_rounds 1001 ERANGE
	until 101 ERANGE
	until 100.01 ERANGE
	until 0.125 EINVAL
	until 5% EINVAL
	until . EINVAL
	until_s 0 ERANGE
	test_delay_ns 1000001 ERANGE
	seed 18446744073709551616 ERANGE
	seed 0x10 EINVAL
	cpu 99999 ERANGE
	cpu -1 ERANGE
	cpu zero EINVAL
	nid 99999 ERANGE
	nid some EINVAL
	cache hot EINVAL
	drain 2 ERANGE
	after all EINVAL
	after 1 EINVAL
	victim_kib 3 ERANGE
	victim_kib 32769 ERANGE
	victim_kib 1M EINVAL
	victim_cpu 99999 ERANGE
	victim_cpu -1 ERANGE
	victim_cpu any EINVAL
	verify yes EINVAL
	unsafe -1 ERANGE
	run 2 EINVAL
LIST
if [ -e /sys/kernel/debug/sched/preempt ] && ! uname -v | grep -q PREEMPT_RT; then
	check "lets refused models in" accepted force_preempt 1
	check "... and no longer" accepted force_preempt 0
else
	check "refuses to force models where there are none to choose" refused force_preempt 1 "$DOM"
fi
if grep -q '^# clzero' $D/available_methods; then
	check "refuses a method that this CPU does not have" refused methods clzero "$DOM"
else
	check "takes a method that this CPU has" accepted methods clzero
	set_knobs methods=mov
fi
check "refuses a value longer than a knob" sh -c \
	"! head -c 600 /dev/zero | tr '\\0' 1 2>/dev/null > $D/samples"
check "a refused name lists the legal ones" sh -c \
	"! echo foo 2>/dev/null > $D/methods; dmesg | tail -n 1 | grep -q 'legacy clear_page batched upstream .*mov'"

if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	echo 0 > /sys/devices/system/cpu/cpu1/online
	check "refuses an offline CPU" refused cpu 1 "$DOM"
	check "... for the victim too" refused victim_cpu 1 "$DOM"
	echo 1 > /sys/devices/system/cpu/cpu1/online
	check "takes it when it is back" accepted cpu 1
	set_knobs cpu=any
fi

# A sweep
set_knobs methods=legacy,batched batches=full contexts=process,softirq,spinlock seed=1 \
	extent_rounds=10 warmup=2
check "sweeps all orders in all contexts" run_with "orders=0-$max" samples=20
check "a line a cell" [ "$(column order | wc -l)" = $((3 * 2 * (max + 1))) ]
check "all of them ok, verified, complete" every 1 \
	'c["state"] == "ok" && c["verify"] == "ok" && c["n"] == 20 && c["not_available"] == 0'
check "the percentiles are in order" every 1 \
	'c["min_ns"] > 0 && c["min_ns"] <= c["p50_ns"] && c["p50_ns"] <= c["p90_ns"] && c["p90_ns"] <= c["p99_ns"] && c["p99_ns"] <= c["p999_ns"] && c["p999_ns"] <= c["max_ns"] && c["mean_ns"] >= c["min_ns"] && c["mean_ns"] <= c["max_ns"]'
check "bandwidth is bytes over the median" every 1 \
	"(d = c[\"gb_per_s\"] * c[\"p50_ns\"] / ($(sed -n 's/^page_size: //p' $D/info) * pow2(c[\"order\"]))) > 0.98 && d < 1.02"
check "batched has a ratio, legacy has none" every 1 \
	'(c["method"] == "batched") == (c["ratio"] > 0)'
check "the CPU and the node are numbers" every 1 'c["cpu"] ~ /^[0-9]+$/ && c["nid"] ~ /^[0-9]+$/'
check "the columns are those of the contract" [ "$(sed -n 2p $D/results | tr '\t' ' ')" = \
	"context order method batch cache model cpu nid load n n_disturbed not_available verify state note min_ns p50_ns p90_ns p99_ns p999_ns max_ns mean_ns gb_per_s clock_ns alloc_p50_ns free_p50_ns ratio ratio_lo ratio_hi floor_lo floor_hi irq_p50_ns irq_p99_ns irq_max_ns fifo_p50_ns fifo_p99_ns fifo_max_ns normal_p50_ns normal_p99_ns normal_max_ns irqoff_max_ns resched_max_ns" ]
check "every line has every column" [ "$(awk -F '\t' 'NR > 1 { print NF }' $D/results | sort -u)" = 42 ]
check "the model is the kernel's" every 1 'c["model"] ~ /^(none|voluntary|full|lazy|rt|rt-full|rt-lazy)$/'
# shellcheck disable=SC2016
check "each histogram adds up to its samples" awk -F '\t' '
	NR > 2 && $5 == "clear" { sum[$1 " " $2 " " $3 " " $4] += $8; if ($7 != "inf" && $7 <= $6) bad++ }
	NR > 2 && $5 == "ratio" { ratio[$1 " " $2 " " $3 " " $4] += $8 }
	END { for (k in sum) { n++; if (sum[k] != 20) bad++ } for (k in ratio) if (ratio[k] != 20) bad++
	      exit bad || n != '$((3 * 2 * (max + 1)))' }' $D/histograms
# shellcheck disable=SC2016
check "disturbed samples are counted, and their times kept apart" awk -F '\t' '
	FNR == 1 { file++ }
	file == 1 && FNR > 2 && $5 == "disturbed" { sum[$1 $2 $3 $4] += $8 }
	file == 2 && FNR == 2 { for (i = 1; i <= NF; i++) if ($i == "n_disturbed") at = i }
	file == 2 && FNR > 2 { n++; if (sum[$1 $2 $3 $4] + 0 != $at) bad++; some += $at }
	END { print n, bad, some; exit !n || bad }' $D/histograms $D/results
check "no bucket is wider than 0.8 %" awk -F '\t' '
	NR > 2 && $5 == "clear" && $7 != "inf" && $7 - $6 > 1 && ($7 - $6) / $6 > 0.008 { print; bad++ }
	END { exit bad }' $D/histograms
check "results is longer than a page and whole" sh -c "[ \$(wc -c < $D/results) -gt 4096 ]"

check "a known delay is in the figures" run_with orders=2 contexts=process methods=legacy,test_slow \
	batches=full samples=60 test_delay_ns=1000000
check "... of test_slow" every 'c["method"] == "test_slow"' 'c["min_ns"] >= 1000000 && c["ratio"] < 0.5'
check "... and of no other" every 'c["method"] == "legacy"' 'c["min_ns"] < 1000000'
# So few extents in a second that none is narrow by chance
check "until goes on beyond samples, and stops" run_with orders=6 samples=20 extent_rounds=1000 \
	until=0.01 until_s=1 test_delay_ns=0
check "... after its time, and says so" every 1 'c["n"] >= 1000 && c["n"] % 1000 == 0 && c["note"] ~ /until: not as narrow after 1 s/'
set_knobs extent_rounds=10 orders=2
check "until that is reached" run_with samples=20 until=100.00 until_s=60
check "... is not labelled" every 1 'c["n"] >= 60 && c["note"] !~ /until/'
set_knobs until=0 until_s=60 test_delay_ns=0 contexts=process,softirq,spinlock
# A sixteenth of the memory holds fewer extents than that
check "takes more extents than it may hold" run_with "orders=0,$max" extent_rounds=1 contexts=process \
	samples=$(($(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 16 / (4 << max) + 16)) verify=0
check "... and says that they share places" every "c[\"order\"] == $max" \
	'c["note"] ~ /[0-9]+ extents in [0-9]+ places/'
check "... where they do" every 'c["order"] == 0' 'c["note"] == "-"'
set_knobs extent_rounds=10 contexts=process,softirq,spinlock verify=1

check "every method, batch and cache state verifies" run_with orders=0,3,5 \
	"methods=$(grep -v '^#' $D/available_methods | cut -f 1 | grep -vE '^(v1|contig|test_empty)$' | tr '\n' ',' | sed 's/,$//')" \
	batches=1,2,3,7,full,auto samples=4 cache=cold
check "... cold" every 1 'c["state"] == "ok" && c["verify"] == "ok"'
check "a batch that covers the extent is left out" [ "$(column batch 'c["method"] == "stosb" && c["context"] == "process" && c["order"] == 0' | tr '\n' ' ')" = "full auto " ]
check "... and no other" [ "$(column batch 'c["method"] == "stosb" && c["context"] == "process" && c["order"] == 3' | tr '\n' ' ')" = "1 2 3 7 full auto " ]
check "a method that is its own batch shows none" every 'c["method"] == "legacy"' 'c["batch"] == "-"'
check "drained windows verify" run_with drain=1
check "... all" every 1 'c["state"] == "ok" && c["verify"] == "ok"'
check "fresh extents verify" run_with cache=fresh drain=0
check "... all" every 1 'c["state"] == "ok" && c["verify"] == "ok"'
check "... and time the allocation and the free" every 'c["method"] != "alloc_zero"' \
	'c["alloc_p50_ns"] > 0 && c["free_p50_ns"] > 0'
if grep -q '^init_on_alloc: 1' $D/info; then
	check "... and are labelled for init_on_alloc" every 1 'c["note"] ~ /init_on_alloc/'
	check "alloc_zero says why its plain allocation is empty" every 'c["method"] == "alloc_zero"' \
		'c["alloc_p50_ns"] == "-" && c["note"] ~ /a plain allocation clears too/'
else
	check "alloc_zero times a plain allocation" every 'c["method"] == "alloc_zero"' \
		'c["alloc_p50_ns"] > 0 && c["free_p50_ns"] > 0'
fi
check "no allocation is timed where there is none" run_with cache=cold methods=legacy,batched batches=full
check "... as said" every 1 'c["alloc_p50_ns"] == "-" && c["free_p50_ns"] == "-"'

if uname -v | grep -q PREEMPT_RT; then
	run_with contexts=process,softirq,spinlock,rcu_spinlock,irqoff orders=0 samples=3 cache=cold \
		methods=legacy,batched batches=full > /dev/null
	check "PREEMPT_RT: a context that becomes another is labelled" every 'c["context"] != "process"' \
		'c["note"] ~ /PREEMPT_RT: / && c["state"] == "ok"'
	check "PREEMPT_RT: process context is what it was" every 'c["context"] == "process"' 'c["note"] == "-"'
	check "PREEMPT_RT: the model says so" every 1 'c["model"] ~ /^rt(-full|-lazy)?$/'
fi

# What a clear leaves behind
check "a method that clears nothing is found out" run_with orders=0,3 samples=3 contexts=process \
	methods=legacy,test_empty
check "... and has no time" every 'c["method"] == "test_empty"' \
	'c["state"] == "failed" && c["min_ns"] == "-" && c["note"] ~ /^left byte 0 of/'
check "after=touch runs and verifies" run_with after=touch methods=legacy,batched,alloc_zero \
	orders=0,3 contexts=process,softirq,spinlock,rcu_spinlock,irqoff,hardirq samples=12
check "... every extent that is there" every 'c["method"] != "alloc_zero"' \
	'c["state"] == "ok" && c["verify"] == "ok" && c["n"] == 12 && c["note"] ~ /after=touch: the time of the first read$/'
check "... and no other" every 'c["method"] == "alloc_zero"' \
	'c["state"] == "refused" && c["min_ns"] == "-" && c["note"] == "after=touch reads an extent that is there before and after"'
check "... whatever its method" run_with cache=fresh methods=legacy
check "... as said" every 1 'c["state"] == "refused" && c["note"] ~ /^after=touch reads an extent/'
check "after=victim runs and verifies" run_with cache=cold after=victim victim_kib=64 methods=legacy,batched
check "... with the time of no clear" every 1 'c["state"] == "ok" && c["verify"] == "ok" && c["n"] == 12 &&
	c["note"] ~ /after=victim: the time to read 64 KiB again; [1-9][0-9]* ns with no clear between$/'
check "... and the bandwidth of what was read" every 1 \
	'(d = c["gb_per_s"] * c["p50_ns"] / 65536) > 0.98 && d < 1.02'
if [ -e /sys/devices/system/cpu/cpu1 ]; then
	check "... read by another CPU" run_with cpu=0 victim_cpu=1
	check "... as said" every 1 'c["state"] == "ok" && c["note"] ~ /again on CPU 1; [1-9]/ && c["cpu"] == 0'
fi
if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	echo 0 > /sys/devices/system/cpu/cpu1/online
	check "... which went offline" sh -c "! echo 1 2>/dev/null > $D/run &&
		grep -q '^failed the CPU of victim_cpu is offline' $D/status"
	echo 1 > /sys/devices/system/cpu/cpu1/online
fi
check "latency has no time of a clear then" sh -c "echo 1 > $D/latency; ! echo 1 2>/dev/null > $D/run &&
	dmesg | tail -n 1 | grep -q 'run: refused; latency=1 needs the time of the clear'"
set_knobs after=none victim_kib=256 victim_cpu=same cpu=any latency=0 contexts=process methods=legacy,batched

# Other CPUs that clear meanwhile
if [ -e /sys/devices/system/cpu/cpu1 ]; then
	check "runs under the load of another CPU" run_with load=1 orders=0,5 samples=4 contexts=process
	check "... and says so" every 1 'c["load"] == 1 && c["state"] == "ok" && c["verify"] == "ok"'
	check "its threads are gone" sh -c "! ps | grep -q 'clearbench_loa[d]'"
	check "refuses a load of more CPUs than are online" refused load 2 "$RANGE"
	set_knobs load=0
fi

# The probe of latencies
check "runs with the latency probe" run_with latency=1 orders=4,9 samples=24 \
	contexts=process,softirq,spinlock,rcu_spinlock,irqoff,hardirq methods=legacy,batched,alloc_zero
check "... and verifies" every 'c["state"] != "refused"' 'c["state"] == "ok" && c["verify"] == "ok"'
check "what allocates is not probed" every 'c["method"] == "alloc_zero"' 'c["irq_p50_ns"] == "-"'
check "delays are in order" every 'c["irq_p50_ns"] != "-" && c["fifo_p50_ns"] != "-"' \
	'c["irq_p50_ns"] <= c["irq_max_ns"] && c["fifo_p50_ns"] <= c["fifo_max_ns"]'
check "info says what the probe sees by itself" \
	[ "$(grep -c '^latency_idle_\(irq\|fifo\|normal\)_ns: [0-9]* [0-9]* [0-9]*$\|^latency_arm_ns: [0-9]' $D/info)" = 4 ]
check "its threads are gone" sh -c "! ps | grep -q 'clearbench_[fn]'"
run_with latency=0 contexts=process methods=legacy,batched > /dev/null
check "without it nothing of the kind is printed" every 1 'c["irq_p50_ns"] == "-" && c["resched_max_ns"] == "-"'

# Contexts, and what they forbid
check "runs in every context" run_with orders=0,4 samples=4 contexts=process,softirq,spinlock,rcu_spinlock,irqoff,hardirq \
	methods=legacy,batched,upstream,v1,contig,user_highpages,alloc_zero batches=full
SLEEPS='(c["method"] == "v1" || c["method"] == "contig")'
check "what sleeps is refused in atomic context, with the rule" every "$SLEEPS && c[\"context\"] != \"process\"" \
	'c["state"] == "refused" && c["note"] ~ /cond_resched.*atomic context/ && c["n"] == 0 && c["min_ns"] == "-"'
check "... and runs in process context" every "$SLEEPS && c[\"context\"] == \"process\"" \
	'c["state"] == "ok" && c["verify"] == "ok"'
check "clear_user_highpages() may run in all of them" every 'c["method"] == "user_highpages"' \
	'c["state"] == "ok" && c["verify"] == "ok"'
check "a hard interrupt does not allocate" every 'c["context"] == "hardirq" && c["method"] == "alloc_zero"' \
	'c["state"] == "refused" && c["note"] ~ /allocated before/'
check "all others run and verify" every "!$SLEEPS && !(c[\"context\"] == \"hardirq\" && c[\"method\"] == \"alloc_zero\")" \
	'c["state"] == "ok" && c["verify"] == "ok"'
check "v1 takes the kernel's batch rule unless another is asked for" every 'c["method"] == "v1"' \
	'c["batch"] == "auto"'
run_with contexts=process batches=1,full methods=v1 > /dev/null
check "... and then says so" every 1 'c["batch"] != "auto" && c["note"] ~ /its own batch is auto/'
set_knobs contexts=process,softirq,spinlock methods=legacy,batched batches=full

llc=$(sed -n 's/^llc_bytes: //p' $D/info)
check "warm extents run or are refused with the reason" run_with cache=warm orders=0,5 samples=3
if [ "$llc" -gt 0 ]; then
	check "... warm" every 1 'c["state"] == "ok"'
else
	check "... refused" every 1 'c["state"] == "refused" && c["note"] ~ /LLC/ && c["min_ns"] == "-"'
fi
set_knobs cache=cold

# The same seed gives the same sequence; a failed refusal keeps the results
run_with orders=0 samples=3 > /dev/null
before=$(cat $D/results)
check "refuses a sweep without a cell" sh -c \
	"echo 5 > $D/batches; echo batched > $D/methods; ! echo 1 2>/dev/null > $D/run"
check "... and keeps the last results" [ "$(cat $D/results)" = "$before" ]
set_knobs batches=full methods=legacy,batched

# Stopping
long="orders=4 samples=10000000"
# shellcheck disable=SC2086
set_knobs $long
sh -c "echo 1 > $D/run" &
pid=$!
while ! grep -q running $D/status; do :; done
check "status says where it is" grep -qE \
	'^running [0-9]+/6 context=process order=4 method=(legacy|batched) batch=(-|full)$' $D/status
check "run reads 1" [ "$(cat $D/run)" = 1 ]
check "a second run is busy" sh -c "! sh -c 'echo 1 > $D/run' 2>&1 | grep -qv busy && ! echo 1 2>/dev/null > $D/run"
check "a knob is busy" sh -c "! echo 5 2>/dev/null > $D/samples"
check "the module cannot be removed" sh -c "! rmmod clearbench 2>/dev/null"
t0=$(cut -d ' ' -f 1 /proc/uptime)
echo 0 > $D/run
wait $pid
t1=$(cut -d ' ' -f 1 /proc/uptime)
check "writing 0 stops it within 100 ms and a little" \
	awk "BEGIN { print $t1 - $t0; exit !($t1 - $t0 <= ${SLACK:-0.3}) }"
check "status is stopped" [ "$(cat $D/status)" = stopped ]
check "what is done is kept, as partial" every 1 'c["state"] == "partial" && c["n"] > 0'

check "a signal stops it with EINTR" sh -c \
	"timeout -s INT 1 sh -c 'echo 1 > $D/run' 2>&1; [ \"\$(cat $D/status)\" = stopped ]"
check "... and keeps what is done" every 1 'c["state"] == "partial" && c["n"] > 0'
check "a killed run stops too" sh -c \
	"timeout -s KILL 1 sh -c 'echo 1 > $D/run' 2>/dev/null; [ \"\$(cat $D/status)\" = stopped ]"

if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	set_knobs cpu=1
	sh -c "echo 1 > $D/run" 2> /dev/null &
	pid=$!
	while ! grep -q running $D/status; do :; done
	echo 0 > /sys/devices/system/cpu/cpu1/online
	wait $pid
	check "a CPU that goes offline fails the run" grep -q '^failed .*offline' $D/status
	echo 1 > /sys/devices/system/cpu/cpu1/online
	set_knobs cpu=any
fi
set_knobs samples=5 orders=0-2
check "and it runs again" run_with

# Unloading
exec 3< $D/results
check "an open file pins the module" sh -c "! rmmod clearbench 2>/dev/null"
exec 3<&-
check "unloads" rmmod clearbench
check "nothing is left" sh -c "! [ -e $D ] && ! grep -q clearbench /proc/modules"

check "loads with a method that leaves a byte" insmod $KO test_leave_byte=batched
run_with orders=0,4 samples=5 > /dev/null
check "it is reported as failed, without a time" every 'c["method"] == "batched"' \
	'c["state"] == "failed" && c["verify"] == "failed" && c["min_ns"] == "-" && c["note"] ~ /left byte/'
check "... and the other is not" every 'c["method"] == "legacy"' 'c["state"] == "ok" && c["verify"] == "ok"'
rmmod clearbench

check "loads with a method that leaves a byte after its rounds" insmod $KO test_leave_byte=legacy+
run_with orders=0,4 samples=60 > /dev/null
check "its times are dropped" every 'c["method"] == "legacy"' \
	'c["state"] == "failed" && c["verify"] == "failed" && c["min_ns"] == "-" && c["floor_lo"] == "-"'
check "... and what others have against it" every 'c["method"] == "batched"' \
	'c["state"] == "ok" && c["p50_ns"] > 0 && c["ratio"] == "-" && c["ratio_lo"] == "-"'
rmmod clearbench

check "loads with a small bound for histograms" insmod $KO hist_limit_mib=1
check "a sweep above it is refused" sh -c "! echo 1 2>/dev/null > $D/run"
check "... with the sum" sh -c "dmesg | tail -n 1 | grep -q '66 cells take [0-9]* MiB, the limit is 1 MiB'"
rmmod clearbench

P=/sys/kernel/debug/sched/preempt
if [ -e $P ] && ! uname -v | grep -q PREEMPT_RT && insmod $KO && set_knobs force_preempt=1 &&
	! sh -c "echo 0 > $D/force_preempt; echo none 2>/dev/null > $P"; then
	set_knobs force_preempt=1
	echo none > $P
	rmmod clearbench && insmod $KO
	check "a model that is still forced from before is marked" \
		grep -qE '^preempt: none!' $D/info
	echo full > $P
fi
grep -q '^clearbench ' /proc/modules && rmmod clearbench

for i in 1 2 3; do
	insmod $KO && run_with orders=0-3 samples=3 > /dev/null && rmmod clearbench || break
done
result "loads, sweeps and unloads again and again" $?
if [ -e /proc/lockdep_stats ]; then
	check "lockdep still watches" grep -qE 'debug_locks: +1' /proc/lockdep_stats
fi
