! LIKWID's marker API for Fortran, over tally's regions: `use likwid`. The functions are in liblikwid.so. Blanks at the
! end of a name are not part of it. See docs/guides/from-likwid.md.
module likwid
  implicit none

  interface
    ! Opens the counters, so that no region contains that.
    subroutine likwid_markerInit()
    end subroutine

    ! Opens the counters of the calling thread.
    subroutine likwid_markerThreadInit()
    end subroutine

    ! Does nothing: tally counts one set of events.
    subroutine likwid_markerNextGroup()
    end subroutine

    ! Does nothing: `tally stat` or TALLY_OUTPUT shows the regions when the program ends.
    subroutine likwid_markerClose()
    end subroutine

    ! Does nothing: the first entry into a region takes no part in its counts.
    subroutine likwid_markerRegisterRegion(regionTag)
      character(*), intent(in) :: regionTag
    end subroutine

    ! Begins a region of the calling thread.
    subroutine likwid_markerStartRegion(regionTag)
      character(*), intent(in) :: regionTag
    end subroutine

    ! Ends the innermost open region of this name.
    subroutine likwid_markerStopRegion(regionTag)
      character(*), intent(in) :: regionTag
    end subroutine

    ! Discards the calling thread's counts of a region.
    subroutine likwid_markerResetRegion(regionTag)
      character(*), intent(in) :: regionTag
    end subroutine

    ! Writes the calling thread's counts of a region: at most nr_events, which becomes the number written. A count that
    ! is absent is NaN.
    subroutine likwid_markerGetRegion(regionTag, nr_events, events, time, count)
      character(*), intent(in) :: regionTag
      integer, intent(inout) :: nr_events
      double precision, intent(inout) :: events(*)
      double precision, intent(out) :: time ! seconds in the region
      integer, intent(out) :: count ! how often it ended
    end subroutine

    ! Returns the number of the processor that the calling thread runs on; if it is pinned to one, of that.
    integer function likwid_getProcessorId()
    end function

    ! Pin the calling thread, or the main thread of the process, to a processor. Return 1, or 0 on failure.
    integer function likwid_pinThread(processorId)
      integer, intent(in) :: processorId
    end function
    integer function likwid_pinProcess(processorId)
      integer, intent(in) :: processorId
    end function
  end interface
end module
