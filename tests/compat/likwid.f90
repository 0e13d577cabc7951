! Regions marked with LIKWID's Fortran module, and read by the program.
program marked
  use likwid
  implicit none
  character(20) :: name
  integer :: entries, i, room
  double precision :: events(8), seconds
  real, volatile :: total

  total = 0
  call likwid_markerInit()
  call likwid_markerThreadInit()
  name = 'sum'
  call likwid_markerRegisterRegion(name)
  do i = 1, 3
    call likwid_markerStartRegion('around')
    call likwid_markerStartRegion(name)
    call add(1000)
    call likwid_markerStopRegion('sum')
    call likwid_markerStopRegion('around')
  end do
  call likwid_markerNextGroup()
  room = size(events)
  call likwid_markerGetRegion('sum', room, events, seconds, entries)
  print '(i0, a, i0, a, i0)', room, ' events, ', int(events(1)), ', entries ', entries
  call likwid_markerStartRegion('emptied')
  call likwid_markerStopRegion('emptied')
  call likwid_markerResetRegion('emptied   ')
  print '(a, i0)', 'pinned: ', likwid_pinThread(likwid_getProcessorId())
  call likwid_markerClose()

contains

  subroutine add(rounds)
    integer, intent(in) :: rounds
    integer :: round
    do round = 1, rounds
      total = total + round
    end do
  end subroutine
end program
