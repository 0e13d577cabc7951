! Counts hardware events of regions of a Fortran program, and grades each count.
!
!     use tally
!     call tally_begin('solve')
!     call solve(matrix)
!     call tally_end('solve')
!
! `tally stat` shows the regions of a program. Without a PMU, its engine counts exactly. Link with -ltally.
module tally
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: tally_begin, tally_end, tally_dump, tally_count, tally_region

  ! A region's count of one event so far, over all threads. Without a number, trust is 'absent' and reason says why. If
  ! no region of this name was entered, trust is empty.
  type :: tally_region
    integer(c_long_long) :: total = 0, entries = 0, least = 0, most = 0
    character(:), allocatable :: event, trust, reason
  end type

  type, bind(c) :: c_count
    integer(c_long_long) :: value
    type(c_ptr) :: event, unit, trust, reason
  end type

  type, bind(c) :: c_region_count
    type(c_count) :: total
    integer(c_long_long) :: entries, least, most
  end type

  interface
    integer(c_int) function c_begin(name) bind(c, name='tally_region_begin')
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_end(name) bind(c, name='tally_region_end')
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_dump(place) bind(c, name='tally_dump')
      import
      character(kind=c_char), intent(in) :: place(*)
    end function
    integer(c_int) function c_count_region(region, event, count) bind(c, name='tally_count_region')
      import
      character(kind=c_char), intent(in) :: region(*), event(*)
      type(c_region_count), intent(out) :: count
    end function
    type(c_ptr) function c_error() bind(c, name='tally_error')
      import
    end function
    integer(c_size_t) function c_length(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Begins a region of the calling thread. If nothing can be counted, the program runs without counts.
  subroutine tally_begin(name)
    character(*), intent(in) :: name
    integer(c_int) :: status
    status = c_begin(trim(name)//c_null_char)
  end subroutine

  ! Ends the innermost open region of this name.
  subroutine tally_end(name)
    character(*), intent(in) :: name
    integer(c_int) :: status
    status = c_end(trim(name)//c_null_char)
  end subroutine

  ! Writes all regions so far: 'table' to standard error, or to a file whose name ends with .json or .csv.
  subroutine tally_dump(place)
    character(*), intent(in) :: place
    integer(c_int) :: status
    status = c_dump(trim(place)//c_null_char)
  end subroutine

  ! Returns a region's count of an event.
  function tally_count(region, event) result(counted)
    character(*), intent(in) :: region, event
    type(tally_region) :: counted
    type(c_region_count) :: count
    if (c_count_region(trim(region)//c_null_char, trim(event)//c_null_char, count) /= 0) then
      counted%event = event
      counted%trust = ''
      counted%reason = text(c_error())
      return
    end if
    counted%total = count%total%value
    counted%entries = count%entries
    counted%least = count%least
    counted%most = count%most
    counted%event = text(count%total%event)
    counted%trust = text(count%total%trust)
    counted%reason = text(count%total%reason)
  end function

  ! Copies a text of C.
  function text(pointer)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [c_length(pointer)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function
end module
