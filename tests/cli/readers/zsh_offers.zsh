# zsh -f zsh_offers.zsh DIRECTORY LINE…: prints what zsh offers after each LINE with the completion functions in
# DIRECTORY, one word a line, and an empty line after each LINE. Types the lines into a zsh on a terminal of its own, where
# a function instead of compadd writes down the words that match.
zmodload zsh/zpty || exit 1
directory=$1
shift
offers=$(mktemp) || exit 1
zpty shell zsh -f -i
zpty -w shell "PROMPT= offers=${(q)offers} fpath=(${(q)directory} \$fpath); stty -echo; autoload -Uz compinit; compinit -u -D"
# With -O, -A or -D compadd only changes arrays, and would find them changed the second time.
zpty -w shell 'compadd() {
  local -a matching
  if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
    builtin compadd -O matching "$@"
    (( $#matching )) && print -rl -- $IPREFIX${^matching} >> $offers
  fi
  builtin compadd "$@"
}'
# zsh forgets the function at the end of each completion. The list of matches is not shown.
zpty -w shell 'finish() { compstate[list]= compstate[insert]=; comppostfuncs=(finish); print -r -- "<""END>" }; comppostfuncs=(finish)'
zpty -w shell 'print -r -- "<""READY>"'
zpty -r -m shell ready '*<READY>*'
for line; do
  : > $offers
  zpty -w -n shell $'\C-u'$line$'\t'
  zpty -r -m shell ended '*<END>*'
  sort -u $offers
  print
done
zpty -d shell
rm -f $offers
