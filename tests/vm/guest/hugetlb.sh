# SPDX-License-Identifier: GPL-2.0
# clearbench hugetlb, booted with hugepages=8 hugepage_alloc_threads=2 on two
# nodes of numa=fake=2. Runs in /out.
# shellcheck shell=sh disable=SC2154,SC2016

P=/sys/kernel/mm/hugepages/hugepages-2048kB
N=/sys/devices/system/node
node_file=hugepages/hugepages-2048kB/nr_hugepages

pools() {
	echo "$(cat $P/nr_hugepages) $(cat $N/node0/$node_file) $(cat $N/node1/$node_file)"
}

# kept NAME: the pools are as they were set
kept() {
	result "$1" "$([ "$(pools)" = "6 5 1" ]; echo $?)" "$(pools)"
}

# said STATUS TEXT COMMAND…: ends with STATUS, says TEXT, in one line, and nothing is left
said() {
	want=$1
	text=$2
	shift 2
	out=$("$@" 2>&1)
	status=$?
	echo "status $status: $out"
	[ $status -eq "$want" ] && [ "$(echo "$out" | wc -l)" = 1 ] && echo "$out" | grep -q -e "$text"
}

# row NAME COLUMN FILE: a number of the table
row() {
	sed -n "s/^$1  *//p" "$3" | awk -v c="$2" '{ print $c; exit }'
}

dmesg | grep -q 'HugeTLB: allocation took [0-9]*ms with hugepage_allocation_threads=2' ||
	echo "not ok - the boot was not as this test wants it"
check "the boot allocated 8 pages, over both nodes" [ "$(pools)" = "8 4 4" ]

# Not an even spread, which only a node by node restore brings back
echo 5 > $N/node0/$node_file
echo 1 > $N/node1/$node_file
kept "the pools are set as the test wants them"

# The kernel takes and gives in turn from each node: an odd number moves pages.
check "an odd number of pages" clearbench hugetlb -q --pages 9 --pairs 2
kept "... and the pools are restored, node by node"
clearbench hugetlb -q --pages 24 --pairs 6 --fault -o hugetlb.jsonl > table 2> said
result "hugetlb measures" $? "$(cat said)"
kept "the pools are restored after it"
check "the table says EMULATED" grep -q '^EMULATED' table
check "init_on_alloc is on, by the log" [ "$(row 'run time' 1 table)" = on ]
check "24 pages were got" [ "$(row 'run time' 2 table)" = 24 ]
check "that is 0.29 % of 8192" [ "$(row 'run time' 4 table)" = 0.29 ]
check "six rounds make an interval" grep -q '^run time .*\[[0-9.]*, [0-9.]*\] .* 6$' table
check "the fault is a row" grep -q '^fault .*\[' table
check "the boot is a row, with its threads" grep -q '^boot, 2 threads  *on  *8 ' table
ms=$(dmesg | sed -n 's/.*HugeTLB: allocation took \([0-9]*\)ms.*/\1/p')
check "its time is that of the log" awk -v ms="$ms" -v s="$(row 'boot, 2 threads' 6 table)" \
	'BEGIN { exit !(s ~ /^</ && ms < 4 || s > 0.99 * ms / 1000 && s < 1.01 * ms / 1000) }'
# 2 MiB take milliseconds to clear here, and no clear takes microseconds
check "growing takes longer than giving back" awk -v a="$(row 'run time' 6 table)" \
	-v b="$(row freed 6 table)" 'BEGIN { exit !(a > 2 * b) }'
check "the published figures stand beside it" grep -q '^v1, after .*0.166' table

# One node
(
	most0=0
	most1=0
	while [ ! -e /tmp/measured ]; do
		read -r now < $N/node0/$node_file
		[ "$now" -le $most0 ] || most0=$now
		read -r now < $N/node1/$node_file
		[ "$now" -le $most1 ] || most1=$now
	done
	echo "$most0 $most1" > /tmp/most
) &
clearbench hugetlb -q --pages 24 --pairs 4 --node 1 --fault > table 2> said
result "--node 1 measures" $? "$(cat said)"
: > /tmp/measured
wait
check "... says so in the row" grep -q '^run time, node 1 .* 24 ' table
check "... took all from node 1, none from node 0" [ "$(cat /tmp/most)" = "5 25" ]
kept "... and put it back"

# Stopped, by each signal, once the pool was seen to come back twice
for signal in INT TERM; do
	clearbench hugetlb -q --pages 32 --pairs 10000 -o stopped-$signal.jsonl > table 2> said &
	grown=
	returns=0
	while [ $returns -lt 3 ]; do
		read -r now < $P/nr_hugepages
		if [ "$now" -gt 6 ]; then
			grown=1
		elif [ -n "$grown" ]; then
			grown=
			returns=$((returns + 1))
		fi
	done
	kill -s $signal $!
	wait $!
	result "$signal ends with 130" "$(($? != 130))" "$(cat said)"
	kept "... and restores"
	check "... and shows what was done" grep -q '^run time .* 32 ' table
done
check "what was kept is said to be incomplete" grep -q '"complete":false' stopped-INT.jsonl
timeout -s INT 0.3 clearbench hugetlb -q --pages 100 > table 2> said
result "INT within the first growth ends with 130" "$(($? != 130))" "$(cat said)"
kept "... and restores"

# Failed halfway: the pool has grown when there is no room to map it
(
	# shellcheck disable=SC3045 # busybox has it
	ulimit -v 40000
	said 1 'mmap() of the pages' clearbench hugetlb -q --fault --pages 32
) > said
result "a failure ends with 1, in one line" $? "$(cat said)"
kept "... and restores"
clearbench hugetlb -q --pages 8 --pairs 1 -o /dev/full --force > /dev/null 2> said
result "a full disk ends with 1" "$(($? != 1))" "$(cat said)"
kept "... and restores"

# In pieces: the largest page that the memory can hold is not to be had
if [ -e /sys/kernel/mm/hugepages/hugepages-1048576kB ]; then
	check "a page that memory cannot hold is refused" said 1 'too little memory for 1 page of 1G' \
		clearbench hugetlb --size 1G --pages 1
fi

# Refused, nothing changed
check "a size that the kernel has not" said 1 'no huge pages of 4M: --size .*2M' clearbench hugetlb --size 4M
check "a node that is not there" said 1 'node 7 is not on this machine: --node 0-1' clearbench hugetlb --node 7
check "too many pages" said 1 'too little memory for 9999 pages of 2M.*--pages 1 to [0-9]' \
	clearbench hugetlb --pages 9999
check "too many for the node" said 1 '--pages 1 to [0-9]' clearbench hugetlb --pages 300 --node 1
check "a file that exists" said 1 'hugetlb.jsonl exists: --force' clearbench hugetlb -o hugetlb.jsonl
for bad in '--pages 0' '--pages -1' '--pages x' '--pages 99999999999999999999' '--size 3M' '--size 2' \
	'--size M' '--size 2Mx' '--node x' '--node 1024' '--pairs 0' '--pages' '--frob' 'file' '--show'; do
	# shellcheck disable=SC2086 # an option and its value
	clearbench hugetlb $bad > /dev/null 2> said
	result "usage: $bad" "$(($? != 2))" "$(head -n 1 said)"
done
kept "all this changed nothing"
echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd
check "without root it says so" said 1 'run it as root' su nobody -c "clearbench hugetlb"

echo 1 > /proc/sys/vm/nr_overcommit_hugepages
check "default pages: of what is free, some is left" clearbench hugetlb -q --pairs 1
kept "... and that is given back"
