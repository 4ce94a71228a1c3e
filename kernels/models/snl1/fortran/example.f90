! SPDX-License-Identifier: GPL-3.0-or-later
!
! snl1_example FOLDER NPTS: a wave model's side. Reads NPTS spectra of 32 x 36 bins from FOLDER
! (a.f32, cg.f32, kdmean.f32: raw binary32), computes S and D point by point and all at once,
! and writes s.f32 and d.f32 to the current folder.
!
program snl1_example
   use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
   use, intrinsic :: iso_c_binding
   use scanfarm_snl1
   implicit none
   type(snl1_config) :: config
   type(c_ptr) :: handle
   real(c_float), allocatable :: sig(:), a(:, :), cg(:, :), kdmean(:), s(:, :), d(:, :), s1(:, :), d1(:, :)
   integer(c_int8_t), allocatable :: scratch(:), flags(:)
   character(len=snl1_text_size) :: folder, word, text
   real(c_float) :: frequency
   integer :: npts, code, i, p

   call get_command_argument(1, folder)
   call get_command_argument(2, word)
   read (word, *) npts
   code = snl1_defaults(snl1_st4, config)
   if (code /= snl1_ok) error stop 'no such package'

   ! the model's own frequencies, SIG(1:NK): 2 pi with pi rounded first
   allocate (sig(0:config%nk))
   frequency = (config%fr1*(2.0_c_float*3.141592653589793_c_float))/(config%xfr*config%xfr)
   do i = 0, config%nk
      frequency = frequency*config%xfr
      sig(i) = frequency
   end do

   ! the check that a caller must not leave out: an array that begins with row 0 is refused
   call snl1_create(config, sig(0:config%nk - 1), handle, code, text)
   if (code /= snl1_argument .or. c_associated(handle)) error stop 'row 0 was taken for row 1'
   call snl1_create(config, sig(1:), handle, code, text)
   if (code /= snl1_ok) then
      print '(a)', trim(text)
      error stop
   end if

   allocate (a(config%nk*config%nth, npts), cg(config%nk, npts), kdmean(npts))
   allocate (s, d, s1, d1, mold=a)
   allocate (flags(npts))
   allocate (scratch(snl1_scratch_bytes(handle)))
   call read_all('a.f32', size(a), a)
   call read_all('cg.f32', size(cg), cg)
   call read_all('kdmean.f32', size(kdmean), kdmean)

   call snl1_kernel(handle, text)
   print '(a)', trim(text)
   call snl1_compute(handle, a, cg, kdmean, s, d, scratch, code, flags)
   if (code /= snl1_ok) then
      call snl1_message(handle, text)
      print '(a)', trim(text)
      error stop
   end if

   ! one point at a time, as in a wave model's loop: kdmean is an array of one element
   do p = 1, npts
      call snl1_compute(handle, a(:, p:p), cg(:, p:p), kdmean(p:p), s1(:, p:p), d1(:, p:p), scratch, code)
      if (code /= snl1_ok) error stop 'a point alone'
   end do
   if (any(transfer(s, 0_c_int32_t, size(s)) /= transfer(s1, 0_c_int32_t, size(s)))) error stop 'S'
   if (any(transfer(d, 0_c_int32_t, size(d)) /= transfer(d1, 0_c_int32_t, size(d)))) error stop 'D'

   ! an error is a code and a text, and no number that could pass for a result
   cg(3, 2) = 0.0_c_float
   call snl1_compute(handle, a, cg, kdmean, s1, d1, scratch, code)
   call snl1_message(handle, text)
   print '(a)', trim(text)
   if (code /= snl1_argument .or. .not. all(ieee_is_nan(s1))) error stop 'a wrong group velocity'

   ! so are arrays that do not belong together
   call snl1_compute(handle, a, cg(:, 2:), kdmean, s1, d1, scratch, code)
   call snl1_message(handle, text)
   print '(a)', trim(text)
   if (code /= snl1_argument .or. .not. all(ieee_is_nan(d1))) error stop 'another number of points'
   print '(a, i0)', 'points with a negative value: ', count(iand(int(flags), snl1_negative) /= 0)

   open (11, file='s.f32', access='stream', form='unformatted', status='replace')
   write (11) s
   close (11)
   open (11, file='d.f32', access='stream', form='unformatted', status='replace')
   write (11) d
   close (11)
   call snl1_destroy(handle)

contains

   subroutine read_all(name, count, x)
      character(len=*), intent(in) :: name
      integer, intent(in) :: count
      real(c_float), intent(out) :: x(count)
      open (10, file=trim(folder)//'/'//name, access='stream', form='unformatted', status='old')
      read (10) x
      close (10)
   end subroutine

end program
