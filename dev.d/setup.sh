#!/usr/bin/env bash
# Installs the Debian packages that are missing, and nothing else.
#
# usage: ./dev setup [--list] [PURPOSE …]
#
# PURPOSE is build (the default), demo, test, all, guest, processor, engine-suite, suites, bench, lint, tidy, …:
# dev.d/packages lists the packages of each purpose with the reasons. Runs apt-get without questions, as root or with
# sudo; does nothing, and needs no network, if no package is missing. guest also fetches what ./dev guest boots.
#
#   --list   prints what is missing, installs nothing
#
# examples: ./dev setup            ./dev setup build test            ./dev setup --list lint
source dev.d/common

list=no
purposes=()
for word in "$@"; do
  case $word in
    --list) list=yes ;;
    -*) misuse "setup does not support the option $word" ;;
    *)
      grep -qE "^$word\?? " dev.d/packages || misuse "there is no purpose '$word'"
      purposes+=("$word") ;;
  esac
done
((${#purposes[@]})) || purposes=(build)

# The guest's kernel and libraries are not packages of this machine. Without them the tests in the guest are skipped.
fill_guest() {
  if [[ " ${purposes[*]} " != *" guest "* || $list == yes ]]; then return; fi
  TALLY_GUEST_REQUIRED='' ./dev guest --fetch || say "the tests that need hardware counters will be skipped"
}

# The packages of the purposes, each once; $1 is "" or "?" for those that a release may lack.
packages() {
  local purpose
  for purpose in "${purposes[@]}"; do
    awk -v purpose="$purpose$1" '$1 == purpose { print $2 }' dev.d/packages
  done | sort -u
}

# Runs apt-get as root, or through sudo. Without a terminal sudo must not ask.
as_root() {
  if ((EUID == 0)); then env "$@"; elif [[ -t 0 ]]; then sudo env "$@"; else sudo -n env "$@"; fi
}
apt() { as_root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2; }

if ! have dpkg-query || ! have apt-get; then
  say "this is not Debian (no apt-get here); what ./dev ${purposes[*]} needs is, by Debian's names:"
  packages "" | sed 's/^/  /' >&2
  die "if these are installed, --no-setup skips this step in build, test, demo and bench"
fi

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
missing=()
for package in $(packages ""); do installed "$package" || missing+=("$package"); done
wished=()
for package in $(packages "?"); do installed "$package" || wished+=("$package"); done

# Not through a pipe into grep -q: it ends early, and apt-cache then fails at its next line.
available() { [[ $(LC_ALL=C apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }
# Without removing others: libnode-dev needs Debian's nodejs, which conflicts with NodeSource's.
installable() { apt-get -qq --simulate --no-remove --no-install-recommends install "$@" &>/dev/null; }
if ((${#wished[@]})) && ! installable "${wished[@]}"; then
  for i in "${!wished[@]}"; do
    if available "${wished[i]}" && ! installable "${wished[i]}"; then
      say "${wished[i]} conflicts with installed packages: what needs it may be skipped"
      unset "wished[i]"
    fi
  done
fi
if ((${#missing[@]} + ${#wished[@]} == 0)); then
  fill_guest
  exit 0
fi
if [[ $list == yes ]]; then
  printf '%s\n' "${missing[@]}" "${wished[@]}" | sed '/^$/d'
  exit 0
fi

if ((EUID != 0)) && ! have sudo; then
  die "packages are missing, and you are neither root nor have sudo. As root: apt-get install ${missing[*]} ${wished[*]}"
fi
say "installing for ${purposes[*]}: ${missing[*]} ${wished[*]}"
# A mirror that does not answer may not be needed, so failures are ignored: the installation decides.
apt update || say "apt-get update failed; going on with the package lists that are here"

for package in "${wished[@]}"; do
  if available "$package"; then missing+=("$package"); else say "$package is not packaged here: what needs it is skipped"; fi
done
absent=()
for package in "${missing[@]}"; do available "$package" || absent+=("$package"); done
if ((${#absent[@]})); then
  die "apt finds no package ${absent[*]}. Is the network reachable, is 'main' in /etc/apt/sources.list, is this Debian 12 or later?"
fi
if ((${#missing[@]})); then
  apt install --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]} (see its message above). Is the network reachable?"
fi
fill_guest
