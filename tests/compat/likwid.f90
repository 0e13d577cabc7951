! The marker interface from Fortran, as its users declare it.
program marked
  implicit none
  integer :: i, code
  real(8) :: total
  external :: likwid_markerinit, likwid_markerstartregion, likwid_markerstopregion, likwid_markerclose
  external :: papif_hl_region_begin, papif_hl_region_end
  total = 0
  call likwid_markerinit()
  call likwid_markerstartregion('sum')
  do i = 1, 1000
    total = total + i
  end do
  call likwid_markerstopregion('sum')
  call papif_hl_region_begin('padded   ', code)
  call papif_hl_region_end('padded', code)
  call likwid_markerclose()
  print *, total, code
end program
