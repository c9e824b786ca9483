module atf.example/atf

go 1.19
