! Tries the module, alone or under `tally stat`. Prints the count of a region, or why there is none.
program counts
  use tally
  implicit none
  type(tally_region) :: counted
  integer :: entry, i
  real, volatile :: sum

  sum = 0
  do entry = 1, 3
    call tally_begin('sum')
    do i = 1, 1000*entry
      sum = sum + i
    end do
    call tally_end('sum')
  end do
  counted = tally_count('sum', 'instructions')
  if (counted%trust == 'absent') then
    print '(a)', 'absent: '//counted%reason
    stop
  end if
  if (counted%entries /= 3 .or. counted%most < 2*counted%least) error stop 'wrong counts'
  counted = tally_count('never entered', 'instructions')
  if (counted%trust /= '' .or. index(counted%reason, 'never entered') == 0) error stop 'no error'
  print '(a)', 'counted'
end program
