! SPDX-License-Identifier: GPL-3.0-or-later
!
! Fortran's view of snl1.h: the nonlinear source term of waves (DIA) for many sea points.
! Compile this file with the wave model and link scanfarm_snl1, scanfarm_base and the C
! library's mathematics and threads. Kinds are those of C: a default REAL will do where it has
! 32 bits.
!
module scanfarm_snl1
   use, intrinsic :: iso_c_binding
   implicit none
   private

   integer, parameter, public :: snl1_ok = 0, snl1_argument = 1, snl1_unsupported = 3, &
                                 snl1_memory = 4, snl1_scratch = 5, snl1_device = 7
   ! flags of a point, summed: a negative value in it, S or D not finite, spectrum or kdmean not finite
   integer, parameter, public :: snl1_negative = 1, snl1_nonfinite = 2, snl1_input_nonfinite = 4
   integer, parameter, public :: snl1_st2 = 0, snl1_st4 = 1, snl1_st6 = 2, snl1_wam = 3
   integer, parameter, public :: snl1_parity = 0, snl1_fast = 1
   integer, parameter, public :: snl1_text_size = 256

   ! struct snl1_config
   type, bind(c), public :: snl1_config
      integer(c_int32_t) :: nk, nth
      real(c_float) :: xfr, fr1, lam, nlprop, kdcon, kdmin, snls1, snls2, snls3, fachf
      integer(c_int32_t) :: iqtype
   end type

   ! struct snl1_batch
   type, bind(c) :: batch
      integer(c_int64_t) :: npts
      integer(c_int32_t) :: nspec, nk
      type(c_ptr) :: a, cg, kdmean, s, d, scratch
      integer(c_size_t) :: scratch_bytes
      type(c_ptr) :: flags
   end type

   interface
      ! Defaults of a physics package.
      function snl1_defaults(package, config) bind(c) result(code)
         import
         integer(c_int), value :: package
         type(snl1_config), intent(out) :: config
         integer(c_int) :: code
      end function

      function c_create(config, sig, handle, text) bind(c, name='snl1_create') result(code)
         import
         type(snl1_config), intent(in) :: config
         real(c_float), intent(in) :: sig(*)
         type(c_ptr), intent(out) :: handle
         character(kind=c_char), intent(out) :: text(*)
         integer(c_int) :: code
      end function

      ! Free a handle; a null one is legal.
      subroutine snl1_destroy(handle) bind(c)
         import
         type(c_ptr), value :: handle
      end subroutine

      function c_choose(handle, arithmetic, isa) bind(c, name='snl1_choose') result(code)
         import
         type(c_ptr), value :: handle
         integer(c_int), value :: arithmetic
         character(kind=c_char), intent(in) :: isa(*)
         integer(c_int) :: code
      end function

      ! Bytes of scratch that a call needs.
      function snl1_scratch_bytes(handle) bind(c) result(bytes)
         import
         type(c_ptr), value :: handle
         integer(c_size_t) :: bytes
      end function

      function c_compute(handle, b) bind(c, name='snl1_compute') result(code)
         import
         type(c_ptr), value :: handle
         type(batch), intent(in) :: b
         integer(c_int) :: code
      end function

      subroutine c_message(handle, text) bind(c, name='snl1_message')
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(out) :: text(*)
      end subroutine

      subroutine c_note_failure(handle, said) bind(c, name='snl1_note_failure')
         import
         type(c_ptr), value :: handle
         character(kind=c_char), intent(in) :: said(*)
      end subroutine

      function c_kernel(handle) bind(c, name='snl1_kernel') result(name)
         import
         type(c_ptr), value :: handle
         type(c_ptr) :: name
      end function
   end interface

   public :: snl1_defaults, snl1_create, snl1_destroy, snl1_choose, snl1_scratch_bytes, &
             snl1_compute, snl1_message, snl1_kernel

contains

   ! Tables of a configuration. sig(1:nk) are the model's radian frequencies from the first one
   ! on: an array that begins with row 0 is refused.
   subroutine snl1_create(config, sig, handle, code, text)
      type(snl1_config), intent(in) :: config
      real(c_float), intent(in) :: sig(:)
      type(c_ptr), intent(out) :: handle
      integer, intent(out) :: code
      character(len=*), intent(out) :: text
      character(kind=c_char) :: said(snl1_text_size)
      if (size(sig) /= config%nk) then
         handle = c_null_ptr
         code = snl1_argument
         text = 'sig has not nk elements'
         return
      end if
      code = c_create(config, sig, handle, said)
      text = from_c(said)
   end subroutine

   ! Kernel: snl1_parity or snl1_fast, and an instruction set ('auto').
   subroutine snl1_choose(handle, arithmetic, isa, code)
      type(c_ptr), intent(in) :: handle
      integer, intent(in) :: arithmetic
      character(len=*), intent(in) :: isa
      integer, intent(out) :: code
      code = c_choose(handle, int(arithmetic, c_int), trim(isa)//c_null_char)
   end subroutine

   ! S and D of the points: a, s, d (nspec, npts), cg (nk, npts), kdmean (npts). The scratch is
   ! the caller's, one for each thread. On an error s and d hold NaN, and snl1_message says why.
   subroutine snl1_compute(handle, a, cg, kdmean, s, d, scratch, code, flags)
      type(c_ptr), intent(in) :: handle
      real(c_float), intent(in), target, contiguous :: a(:, :), cg(:, :), kdmean(:)
      real(c_float), intent(out), target, contiguous :: s(:, :), d(:, :)
      integer(c_int8_t), intent(inout), target, contiguous :: scratch(:)
      integer, intent(out) :: code
      integer(c_int8_t), intent(out), target, contiguous, optional :: flags(:) ! of the points
      type(batch) :: b
      logical :: fits
      fits = all(shape(s) == shape(a)) .and. all(shape(d) == shape(a)) &
             .and. size(cg, 2) == size(a, 2) .and. size(kdmean) == size(a, 2)
      if (present(flags)) fits = fits .and. size(flags) == size(a, 2)
      if (.not. fits) then
         s = ieee_nan()
         d = ieee_nan()
         if (present(flags)) flags = snl1_nonfinite
         call c_note_failure(handle, 'the shapes of a, s and d are not one, or cg, kdmean or flags have '// &
                             'another number of points'//c_null_char)
         code = snl1_argument
         return
      end if
      b%npts = size(a, 2, c_int64_t)
      b%nspec = size(a, 1, c_int32_t)
      b%nk = size(cg, 1, c_int32_t)
      b%a = c_loc(a)
      b%cg = c_loc(cg)
      b%kdmean = c_loc(kdmean)
      b%s = c_loc(s)
      b%d = c_loc(d)
      b%scratch = c_loc(scratch)
      b%scratch_bytes = size(scratch, kind=c_size_t)
      b%flags = c_null_ptr
      if (present(flags)) b%flags = c_loc(flags)
      code = c_compute(handle, b)
   end subroutine

   ! What the last failed call with a handle said.
   subroutine snl1_message(handle, text)
      type(c_ptr), intent(in) :: handle
      character(len=*), intent(out) :: text
      character(kind=c_char) :: said(snl1_text_size)
      call c_message(handle, said)
      text = from_c(said)
   end subroutine

   ! Name of the kernel that runs, such as snl1-parity/x86-64-v3; for the model's log.
   subroutine snl1_kernel(handle, name)
      type(c_ptr), intent(in) :: handle
      character(len=*), intent(out) :: name
      character(kind=c_char), pointer :: said(:)
      integer :: i
      name = ''
      call c_f_pointer(c_kernel(handle), said, [len(name)])
      do i = 1, len(name)
         if (said(i) == c_null_char) exit
         name(i:i) = said(i)
      end do
   end subroutine

   function from_c(said) result(text)
      character(kind=c_char), intent(in) :: said(:)
      character(len=snl1_text_size) :: text
      integer :: i
      text = ''
      do i = 1, size(said)
         if (said(i) == c_null_char) exit
         text(i:i) = said(i)
      end do
   end function

   function ieee_nan() result(x)
      use, intrinsic :: ieee_arithmetic
      real(c_float) :: x
      x = ieee_value(x, ieee_quiet_nan)
   end function

end module
