! The truth of a program in Fortran; ../truth.h has its format. The program makes the calls and says here what it does:
! nothing in this module calls MPI but by PMPI_ functions.
module truth
   use, intrinsic :: iso_c_binding, only: c_char, c_int, c_long_long, c_null_char, c_ptr
   implicit none
   private
   public :: c_ptr ! for those programs whose buffers have addresses of this type
   public :: truth_begin, truth_call, truth_check, truth_message, truth_moved, truth_print, truth_send

   ! Of one integer, as most messages are.
   integer, parameter, public :: integer_bytes = storage_size(0) / 8

   interface
      ! To be called behind MPI_Init.
      subroutine truth_begin() bind(C, name='truth_fortran_begin')
      end subroutine
      subroutine print_it() bind(C, name='truth_fortran_print')
      end subroutine
      subroutine add_call(name, calls, moved) bind(C, name='truth_fortran_call')
         import :: c_char, c_int, c_long_long
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int), value :: calls
         integer(c_long_long), value :: moved
      end subroutine
      subroutine add_message(destination, bytes) bind(C, name='truth_fortran_message')
         import :: c_int, c_long_long
         integer(c_int), value :: destination
         integer(c_long_long), value :: bytes
      end subroutine
      subroutine violated(line) bind(C, name='truth_fortran_violated')
         import :: c_int
         integer(c_int), value :: line
      end subroutine
   end interface

contains

   ! A call, without MPI_ in its name.
   subroutine truth_call(name)
      character(len=*), intent(in) :: name
      call add_call(name // c_null_char, 1_c_int, 0_c_long_long)
   end subroutine

   ! A call of a collective and what it moves.
   subroutine truth_moved(name, bytes)
      character(len=*), intent(in) :: name
      integer, intent(in) :: bytes
      call add_call(name // c_null_char, 1_c_int, int(bytes, c_long_long))
   end subroutine

   ! A message to a rank of the world.
   subroutine truth_message(destination, bytes)
      integer, intent(in) :: destination, bytes
      call add_message(int(destination, c_int), int(bytes, c_long_long))
   end subroutine

   ! A call that sends N integers.
   subroutine truth_send(name, count, destination)
      character(len=*), intent(in) :: name
      integer, intent(in) :: count, destination
      call truth_call(name)
      call truth_message(destination, count * integer_bytes)
   end subroutine

   ! To be called right before MPI_Finalize.
   subroutine truth_print()
      call truth_call('Finalize')
      call print_it()
   end subroutine

   ! Ends the job with status 1 unless it is so.
   subroutine truth_check(condition, line)
      logical, intent(in) :: condition
      integer, intent(in) :: line
      if (.not. condition) call violated(int(line, c_int))
   end subroutine

end module
