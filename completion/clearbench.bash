# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# bash completion for clearbench. What a machine offers is read from the module
# where it is loaded; tests/test-install.sh holds the lists against the program.

# The last of a comma separated list, from WORDS
_clearbench_list()
{
	local cur=$1 words=$2 before=""

	[[ $cur != *,* ]] || before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "${cur##*,}")
	compopt -o nospace 2>/dev/null
}

# The names of a file of the module's, without those that cannot run here
_clearbench_names()
{
	local names

	names=$(sed '/#/d; s/[[:space:]].*//' "/sys/kernel/debug/clearbench/$1" 2>/dev/null)
	echo "${names:-$2}"
}

_clearbench_value()
{
	local verb=$1 option=$2 cur=$3
	local formats="table mail md"

	case $option in
	--format)
		[ "$verb" != show ] || formats="$formats csv json hist"
		mapfile -t COMPREPLY < <(compgen -W "$formats" -- "$cur")
		;;
	--methods)
		_clearbench_list "$cur" "$(_clearbench_names available_methods \
			"legacy clear_page batched v1 upstream contig user_highpages alloc_zero stosb stosq mov movnti clzero dczva stnp")"
		;;
	--contexts)
		_clearbench_list "$cur" "$(_clearbench_names available_contexts \
			"process softirq spinlock rcu_spinlock irqoff hardirq")"
		;;
	--batches) _clearbench_list "$cur" "full auto 1" ;;
	--preempt) _clearbench_list "$cur" "none voluntary full lazy" ;;
	--picture) _clearbench_list "$cur" "distribution gbps gain latency" ;;
	--vary)
		_clearbench_list "$cur" "kernel cpu model batch method cache load"
		;;
	--cache) mapfile -t COMPREPLY < <(compgen -W "cold warm fresh" -- "$cur") ;;
	--backend) mapfile -t COMPREPLY < <(compgen -W "module user" -- "$cur") ;;
	--size) mapfile -t COMPREPLY < <(compgen -W "2M 1G" -- "$cur") ;;
	--after) mapfile -t COMPREPLY < <(compgen -W "none touch victim" -- "$cur") ;;
	--drain | --verify | --latency) mapfile -t COMPREPLY < <(compgen -W "0 1" -- "$cur") ;;
	-p) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur") ;;
	-o | --resume | --module | --show)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
		;;
	--orders | --samples | --warmup | --seed | --extent-rounds | --until | --until-s | \
	--cpu | --nid | --victim-kib | --victim-cpu | --load | --fail-above | --pages | --node | --pairs | --test-delay-ns)
		;;
	*) return 1 ;;
	esac
	return 0
}

_clearbench()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs="info run show compare matrix plot hugetlb watch help"
	local verb=${COMP_WORDS[1]} options="" i

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$cur")
		return
	fi
	# Behind watch's COMMAND its own words follow
	if [ "$verb" = watch ]; then
		for ((i = 2; i < COMP_CWORD; i++)); do
			case ${COMP_WORDS[i]} in
			-p | -o | --module) i=$((i + 1)) ;;
			--) i=$((i + 1)); break ;;
			-*) ;;
			*) break ;;
			esac
		done
		if [ "$i" -lt "$COMP_CWORD" ]; then
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return
		fi
	fi
	_clearbench_value "$verb" "$prev" "$cur" && return
	case $verb in
	run)
		options="-o --force --resume --module --backend --preempt -q -v --orders --methods --batches --contexts --samples --warmup --seed --extent-rounds --until --until-s --cpu --nid --load --cache --drain --after --victim-kib --victim-cpu --verify --latency --force-preempt --unsafe --highmem"
		;;
	show) options="--undisturbed --format" ;;
	compare) options="--vary --format --fail-above --force" ;;
	matrix) options="--format" ;;
	plot) options="--picture --orders --contexts --methods -o" ;;
	hugetlb) options="--pages --size --node --pairs --fault -o --force --show -q" ;;
	watch) options="-p -a -o --force --module --" ;;
	help)
		mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$cur")
	elif [ "$verb" = watch ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	elif [ "$verb" != info ]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		compopt -o filenames 2>/dev/null
	fi
}

complete -F _clearbench clearbench
