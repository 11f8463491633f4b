CREATE TABLE "django_migrations" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "name" varchar(255) NOT NULL, "applied" datetime NOT NULL);

CREATE TABLE "auth_group_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE "auth_user_groups" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "group_id" integer NOT NULL REFERENCES "auth_group" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE "auth_user_user_permissions" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "permission_id" integer NOT NULL REFERENCES "auth_permission" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE "django_admin_log" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "object_id" text NULL, "object_repr" varchar(200) NOT NULL, "action_flag" smallint unsigned NOT NULL CHECK ("action_flag" >= 0), "change_message" text NOT NULL, "content_type_id" integer NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "user_id" integer NOT NULL REFERENCES "auth_user" ("id") DEFERRABLE INITIALLY DEFERRED, "action_time" datetime NOT NULL);

CREATE TABLE "django_content_type" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app_label" varchar(100) NOT NULL, "model" varchar(100) NOT NULL);

CREATE TABLE "auth_permission" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "content_type_id" integer NOT NULL REFERENCES "django_content_type" ("id") DEFERRABLE INITIALLY DEFERRED, "codename" varchar(100) NOT NULL, "name" varchar(255) NOT NULL);

CREATE TABLE "auth_group" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(150) NOT NULL UNIQUE);

CREATE TABLE "auth_user" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "password" varchar(128) NOT NULL, "last_login" datetime NULL, "is_superuser" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE, "last_name" varchar(150) NOT NULL, "email" varchar(254) NOT NULL, "is_staff" bool NOT NULL, "is_active" bool NOT NULL, "date_joined" datetime NOT NULL, "first_name" varchar(150) NOT NULL);

CREATE TABLE "django_flatpage" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "url" varchar(100) NOT NULL, "title" varchar(200) NOT NULL, "content" text NOT NULL, "enable_comments" bool NOT NULL, "template_name" varchar(70) NOT NULL, "registration_required" bool NOT NULL);

CREATE TABLE "django_flatpage_sites" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "flatpage_id" integer NOT NULL REFERENCES "django_flatpage" ("id") DEFERRABLE INITIALLY DEFERRED, "site_id" integer NOT NULL REFERENCES "django_site" ("id") DEFERRABLE INITIALLY DEFERRED);

CREATE TABLE "django_redirect" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "site_id" integer NOT NULL REFERENCES "django_site" ("id") DEFERRABLE INITIALLY DEFERRED, "old_path" varchar(200) NOT NULL, "new_path" varchar(200) NOT NULL);

CREATE TABLE "django_session" ("session_key" varchar(40) NOT NULL PRIMARY KEY, "session_data" text NOT NULL, "expire_date" datetime NOT NULL);

CREATE TABLE "django_site" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "name" varchar(50) NOT NULL, "domain" varchar(100) NOT NULL UNIQUE);

CREATE UNIQUE INDEX "auth_group_permissions_group_id_permission_id_0cd325b0_uniq" ON "auth_group_permissions" ("group_id", "permission_id");

CREATE INDEX "auth_group_permissions_group_id_b120cbf9" ON "auth_group_permissions" ("group_id");

CREATE INDEX "auth_group_permissions_permission_id_84c5c92e" ON "auth_group_permissions" ("permission_id");

CREATE UNIQUE INDEX "auth_user_groups_user_id_group_id_94350c0c_uniq" ON "auth_user_groups" ("user_id", "group_id");

CREATE INDEX "auth_user_groups_user_id_6a12ed8b" ON "auth_user_groups" ("user_id");

CREATE INDEX "auth_user_groups_group_id_97559544" ON "auth_user_groups" ("group_id");

CREATE UNIQUE INDEX "auth_user_user_permissions_user_id_permission_id_14a6b632_uniq" ON "auth_user_user_permissions" ("user_id", "permission_id");

CREATE INDEX "auth_user_user_permissions_user_id_a95ead1b" ON "auth_user_user_permissions" ("user_id");

CREATE INDEX "auth_user_user_permissions_permission_id_1fbb5f2c" ON "auth_user_user_permissions" ("permission_id");

CREATE INDEX "django_admin_log_content_type_id_c4bce8eb" ON "django_admin_log" ("content_type_id");

CREATE INDEX "django_admin_log_user_id_c564eba6" ON "django_admin_log" ("user_id");

CREATE UNIQUE INDEX "django_content_type_app_label_model_76bd3d3b_uniq" ON "django_content_type" ("app_label", "model");

CREATE UNIQUE INDEX "auth_permission_content_type_id_codename_01ab375a_uniq" ON "auth_permission" ("content_type_id", "codename");

CREATE INDEX "auth_permission_content_type_id_2f476e4b" ON "auth_permission" ("content_type_id");

CREATE INDEX "django_flatpage_url_41612362" ON "django_flatpage" ("url");

CREATE UNIQUE INDEX "django_flatpage_sites_flatpage_id_site_id_0d29d9d1_uniq" ON "django_flatpage_sites" ("flatpage_id", "site_id");

CREATE INDEX "django_flatpage_sites_flatpage_id_078bbc8b" ON "django_flatpage_sites" ("flatpage_id");

CREATE INDEX "django_flatpage_sites_site_id_bfd8ea84" ON "django_flatpage_sites" ("site_id");

CREATE UNIQUE INDEX "django_redirect_site_id_old_path_ac5dd16b_uniq" ON "django_redirect" ("site_id", "old_path");

CREATE INDEX "django_redirect_site_id_c3e37341" ON "django_redirect" ("site_id");

CREATE INDEX "django_redirect_old_path_c6cc94d3" ON "django_redirect" ("old_path");

CREATE INDEX "django_session_expire_date_a5c62663" ON "django_session" ("expire_date");

INSERT INTO "django_migrations" VALUES
(1,'a,b','a','2026-09-18 10:11:00.998437'),
(2,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','','2026-04-17 10:59:00.388156'),
(3,'A','7','2026-03-18 10:58:00.043628'),
(4,'true','日本','2026-04-19 10:40:00.546658'),
(5,'A','A','2026-08-15 10:51:00.021000'),
(6,'50%','line'||char(10)||'break','2026-05-11 10:01:00.986774'),
(7,'line'||char(10)||'break','ä','2026-02-16 10:04:00.642622'),
(8,'ä','a','2026-09-19 10:06:00.393194'),
(9,'50%','A','2026-03-12 10:16:00.401749'),
(10,'Zürich','its','2026-07-13 10:31:00.842401'),
(11,'ä','','2026-02-14 10:29:00.839381'),
(12,'  padded ','007','2026-02-16 10:51:00.709957');

INSERT INTO "auth_group_permissions" VALUES
(1,1,1),
(2,2,2),
(3,3,3),
(4,4,4),
(5,5,5),
(6,6,6),
(7,7,7),
(8,8,8),
(9,9,9),
(10,10,10),
(11,11,11),
(12,12,12);

INSERT INTO "auth_user_groups" VALUES
(1,1,1),
(2,2,2),
(3,3,3),
(4,4,4),
(5,5,5),
(6,6,6),
(7,7,7),
(8,8,8),
(9,9,9),
(10,10,10),
(11,11,11),
(12,12,12);

INSERT INTO "auth_user_user_permissions" VALUES
(1,1,1),
(2,2,2),
(3,3,3),
(4,4,4),
(5,5,5),
(6,6,6),
(7,7,7),
(8,8,8),
(9,9,9),
(10,10,10),
(11,11,11),
(12,12,12);

INSERT INTO "django_admin_log" VALUES
(1,NULL,'line'||char(10)||'break',44100,'日本',2,9,'2026-04-14 10:49:00.561284'),
(2,NULL,'',3,'007',10,2,'2026-02-12 10:03:00.279697'),
(3,'7','a',0,'50%',9,10,'2026-07-13 10:53:00.493171'),
(4,'A','1e3',0,'日本',7,5,'2026-08-11 10:25:00.273337'),
(5,'日本','a,b',5,'日本',3,7,'2026-07-12 10:11:00.988047'),
(6,'50%','1e3',3,'007',10,12,'2026-05-14 10:41:00.181204'),
(7,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','  padded ',3,'1e3',6,9,'2026-05-18 10:03:00.445674'),
(8,'50%','7',3,'',8,4,'2026-03-11 10:30:00.571180'),
(9,NULL,'日本',1,'',3,8,'2026-01-11 10:58:00.445122'),
(10,'a,b','a,b',3,'1e3',11,9,'2026-09-10 10:49:00.991808'),
(11,'1e3','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',3,'007',10,3,'2026-05-10 10:37:00.432353'),
(12,'its','',2,'50%',10,6,'2026-02-15 10:54:00.980043');

INSERT INTO "django_content_type" VALUES
(1,'50%0','Zürich0'),
(2,'50%1','0071'),
(3,'72','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2'),
(4,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx3','日本3'),
(5,'its4','50%4'),
(6,'50%5','  padded 5'),
(7,'Zürich6','2024-02-206'),
(8,'  padded 7','77'),
(9,'A8','1e38'),
(10,'line'||char(10)||'break9','日本9'),
(11,'1e310','  padded 10'),
(12,'1e311','a11');

INSERT INTO "auth_permission" VALUES
(1,1,'A0','7'),
(2,2,'2024-02-201','true'),
(3,3,'0072',''),
(4,4,'日本3','  padded '),
(5,5,'ä4','its'),
(6,6,'true5','2024-02-20'),
(7,7,'  padded 6','line'||char(10)||'break'),
(8,8,'0077','日本'),
(9,9,'  padded 8','50%'),
(10,10,'0079','a'),
(11,11,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx10','  padded '),
(12,12,'true11','null');

INSERT INTO "auth_group" VALUES
(1,'line'||char(10)||'break0'),
(2,'50%1'),
(3,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2'),
(4,'true3'),
(5,'2024-02-204'),
(6,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx5'),
(7,'true6'),
(8,'77'),
(9,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx8'),
(10,'0079'),
(11,'its10'),
(12,'its11');

INSERT INTO "auth_user" VALUES
(1,'  padded ','2026-03-18 10:59:00.407290',0,'70','007','  padded ',0,1,'2026-04-17 10:40:00.950633','a'),
(2,'true',NULL,0,'true1','ä','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',1,0,'2026-03-16 10:12:00.177806','日本'),
(3,'7','2026-01-13 10:32:00.627639',0,'true2','2024-02-20','日本',0,0,'2026-05-16 10:42:00.368807','a'),
(4,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','2026-02-16 10:34:00.409802',1,'50%3','7','A',0,1,'2026-04-16 10:12:00.079765','7'),
(5,'日本','2026-03-12 10:32:00.383677',1,'Zürich4','日本','日本',1,1,'2026-02-14 10:59:00.742054','日本'),
(6,'null','2026-01-13 10:05:00.791721',1,'2024-02-205','日本','Zürich',1,0,'2026-09-17 10:24:00.396556','its'),
(7,'null','2026-07-19 10:57:00.309909',1,'its6','50%','日本',1,0,'2026-04-13 10:11:00.909230',''),
(8,'  padded ','2026-08-11 10:33:00.845551',0,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx7','007','2024-02-20',1,0,'2026-08-15 10:50:00.612624','7'),
(9,'Zürich','2026-06-18 10:23:00.222528',0,'50%8','its','50%',0,0,'2026-05-10 10:59:00.929235','1e3'),
(10,'  padded ','2026-05-17 10:25:00.014924',1,'null9','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','007',1,0,'2026-05-12 10:18:00.130114','  padded '),
(11,'line'||char(10)||'break','2026-04-18 10:12:00.526825',0,'710','its','1e3',0,0,'2026-05-16 10:26:00.700516','true'),
(12,'a','2026-09-10 10:49:00.839935',1,'a,b11','','  padded ',0,1,'2026-02-18 10:37:00.111815','日本');

INSERT INTO "django_flatpage" VALUES
(1,'true','50%','line'||char(10)||'break',1,'ä',1),
(2,'  padded ','  padded ','a,b',0,'1e3',0),
(3,'ä','its','  padded ',1,'a,b',0),
(4,'true','a,b','1e3',1,'50%',1),
(5,'Zürich','','007',0,'a,b',1),
(6,'日本','line'||char(10)||'break','日本',0,'ä',0),
(7,'a,b','true','ä',1,'line'||char(10)||'break',0),
(8,'7','007','  padded ',1,'日本',0),
(9,'null','Zürich','7',1,'日本',1),
(10,'line'||char(10)||'break','a','a',1,'a',1),
(11,'1e3','true','ä',1,'1e3',1),
(12,'true','A','7',0,'',0);

INSERT INTO "django_flatpage_sites" VALUES
(1,1,1),
(2,2,2),
(3,3,3),
(4,4,4),
(5,5,5),
(6,6,6),
(7,7,7),
(8,8,8),
(9,9,9),
(10,10,10),
(11,11,11),
(12,12,12);

INSERT INTO "django_redirect" VALUES
(1,1,'  padded 0','a'),
(2,2,'71','a,b'),
(3,3,'2024-02-202','007'),
(4,4,'line'||char(10)||'break3','A'),
(5,5,'true4','ä'),
(6,6,'a,b5','null'),
(7,7,'a,b6','1e3'),
(8,8,'0077','true'),
(9,9,'  padded 8','1e3'),
(10,10,'true9','007'),
(11,11,'ä10','a,b'),
(12,12,'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx11','A');

INSERT INTO "django_session" VALUES
('line'||char(10)||'break0','its','2026-04-19 10:18:00.513231'),
('a1','xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx','2026-04-16 10:30:00.119236'),
('2024-02-202','  padded ','2026-02-17 10:37:00.279182'),
('日本3','1e3','2026-08-10 10:35:00.171626'),
('日本4','','2026-02-15 10:12:00.008754'),
('Zürich5','null','2026-02-10 10:23:00.961735'),
('日本6','null','2026-08-16 10:21:00.848710'),
('a7','日本','2026-06-17 10:06:00.782745'),
('null8','2024-02-20','2026-04-14 10:15:00.092737'),
('0079','a','2026-06-18 10:57:00.007696'),
('2024-02-2010','日本','2026-04-18 10:24:00.515935'),
('its11','A','2026-08-19 10:46:00.499034');

INSERT INTO "django_site" VALUES
(1,'日本','50%0'),
(2,'Zürich','a1'),
(3,'Zürich','Zürich2'),
(4,'a,b','50%3'),
(5,'007','0074'),
(6,'ä','5'),
(7,'  padded ','true6'),
(8,'50%','7'),
(9,'ä','its8'),
(10,'007','50%9'),
(11,'A','1e310'),
(12,'Zürich','00711');
