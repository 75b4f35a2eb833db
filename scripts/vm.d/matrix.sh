# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Kernels by preemption models: a boot and a result file for each, boots of
# different kernels and models in turn, so that what drifts on this machine falls
# on all of them.

# On 7.x none and voluntary are forced; a clear is long where it is emulated, so
# few samples of large orders tell the models apart.
matrix_default='6.1:none 6.1:voluntary 6.1:full 6.12:none 6.12:voluntary 6.12:full
7.3:none 7.3:voluntary 7.3:full 7.3:lazy 7.3-rt:full 7.3-rt:lazy'
matrix_options=(--orders 4,10 --contexts "process,softirq,spinlock,irqoff" --methods "batched,v1"
	--batches "1,full" --samples 60 --warmup 2 --verify 0 --latency 1)

# What runs in the guest. The model is one of the kernel's own, taken at boot; or
# one that it still contains; or the boot gives no result, and its words say why.
# shellcheck disable=SC2016 # for the guest
matrix_command='
dynamic=/sys/kernel/debug/sched/preempt
model=$1
shift
case $(cat $dynamic 2>/dev/null) in
*"($model)"*) ;;
"") echo "this kernel has one model only: $(sed -n "s/^preempt: //p" /sys/kernel/debug/clearbench/info)" >&2; exit 2 ;;
*) set -- --preempt "$model" --force-preempt "$@" ;;
esac
clearbench run -q "$@" -o /out/result.jsonl
'

# KERNEL:MODEL to its file; a kernel of the user's own is named by its folder.
matrix_name() {	# KERNEL:MODEL BOOT
	printf '%s-%s-%s' "$(basename "${1%:*}")" "${1##*:}" "$2"
}

matrix_quote() {
	local word

	for word; do
		printf " '%s'" "${word//\'/\'\\\'\'}"
	done
}

matrix_boot() {	# KERNEL:MODEL BOOT DIR OPTION…
	local pair=$1 name dir=$3 status

	name=$(matrix_name "$pair" "$2")
	shift 3
	need_tmp
	rm -rf "$tmp/out"
	"$top/scripts/vm" exec "${pair%:*}" --preempt "${pair##*:}" --timeout "$matrix_timeout" \
		--out "$tmp/out" -- "set -- ${pair##*:}$(matrix_quote "$@")
insmod /clearbench/clearbench.ko || exit 1
$matrix_command" </dev/null &
	children+=($!)
	wait $!
	status=$?
	forget $!
	[ ! -s "$tmp/out/kernel.log" ] || cp "$tmp/out/kernel.log" "$dir/$name.log"
	if [ -s "$tmp/out/result.jsonl" ]; then
		cp "$tmp/out/result.jsonl" "$dir/$name.jsonl.tmp" &&
			mv "$dir/$name.jsonl.tmp" "$dir/$name.jsonl" ||
			die $VM_FAILED "cannot write to $dir"
	fi
	return $status
}

cmd_matrix() {
	local pairs=() boots=1 dir='' force='' options=() pair boot name n=0 failed=() files=()
	local status

	matrix_timeout=900
	while [ $# -gt 0 ]; do
		case $1 in
		--boots | --timeout | -o)
			[ $# -ge 2 ] || bad_usage "$1 needs a value"
			case $1 in
			--boots) boots=$2 ;;
			--timeout) matrix_timeout=$2 ;;
			-o) dir=$2 ;;
			esac
			shift 2
			;;
		--force)
			force=1
			shift
			;;
		--unsafe)
			options+=("$1")
			shift
			;;
		--preempt | --force-preempt | --resume | --backend)
			bad_usage "$1 is not for matrix: the models stand behind the kernels, 7.3:lazy"
			;;
		--*=*)
			options+=("$1")
			shift
			;;
		--*)
			[ $# -ge 2 ] || bad_usage "$1 needs a value"
			options+=("$1" "$2")
			shift 2
			;;
		*:none | *:voluntary | *:full | *:lazy)
			pairs+=("$1")
			shift
			;;
		*) bad_usage "'$1' is not KERNEL:MODEL, with MODEL none, voluntary, full or lazy" ;;
		esac
	done
	[ -n "$dir" ] || bad_usage "matrix needs -o DIR: where shall the results go?"
	[[ $boots =~ ^[1-9][0-9]{0,3}$ ]] || bad_usage "--boots is a number from 1 on, not $boots"
	[[ $matrix_timeout =~ ^[1-9][0-9]{0,7}$ ]] ||
		bad_usage "--timeout is in whole seconds, not $matrix_timeout"
	# shellcheck disable=SC2206 # words
	[ ${#pairs[@]} -gt 0 ] || pairs=($matrix_default)
	[ -x "$top/build/clearbench" ] || die $VM_FAILED "build/clearbench is missing: make program"
	for pair in "${pairs[@]}"; do
		kernel_select "${pair%:*}"
		[ "$k_arch" != um ] || bad_usage "$pair: User Mode Linux has no models to choose from"
		[ "$k_arch" != i386 ] || bad_usage "$pair: a 32-bit guest does not run the program clearbench"
	done
	mkdir -p "$dir" && [ -w "$dir" ] || die $VM_FAILED "cannot write to $dir"
	for pair in "${pairs[@]}"; do
		for ((boot = 1; boot <= boots; boot++)); do
			name=$(matrix_name "$pair" $boot)
			[ -z "$force" ] || rm -f "$dir/$name.jsonl" "$dir/$name.log"
			[ ! -e "$dir/$name.jsonl" ] ||
				bad_usage "$dir/$name.jsonl exists: another -o, or --force"
		done
	done

	for ((boot = 1; boot <= boots; boot++)); do
		for pair in "${pairs[@]}"; do
			n=$((n + 1))
			say "boot $n of $((boots * ${#pairs[@]})): $pair"
			matrix_boot "$pair" $boot "$dir" "${matrix_options[@]}" "${options[@]}"
			status=$?
			[ $status -eq 0 ] || failed+=("$(matrix_name "$pair" $boot): status $status")
		done
	done
	for pair in "${pairs[@]}"; do
		for ((boot = 1; boot <= boots; boot++)); do
			name=$dir/$(matrix_name "$pair" $boot).jsonl
			[ ! -e "$name" ] || files+=("$name")
		done
	done
	[ ${#files[@]} -gt 0 ] || die $VM_FAILED "no boot gave a result"
	"$top/build/clearbench" matrix "${files[@]}" >"$dir/matrix.txt" || failed+=("matrix.txt")
	"$top/build/clearbench" matrix --format md "${files[@]}" >"$dir/matrix.md" || failed+=("matrix.md")
	cat "$dir/matrix.txt"
	for name in "${failed[@]}"; do
		say "not whole: $name"
	done
	[ ${#failed[@]} -eq 0 ] || exit 1
}
